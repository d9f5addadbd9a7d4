// Kernel arguments: every size, alignment and order, by value, up to a large structure.
#include "observe.h"

struct Small {
    char a;
    short b;
};
struct Odd {
    char bytes[7];
};
struct alignas(16) Aligned {
    float v[4];
};
struct Large {
    int values[500];
    double tail;
};

__global__ void mixed(double* out, char a, short b, int c, long long d, float e, double f, Small g, Odd h,
                      Aligned i, bool j, float3 k) {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = double(d);
    out[4] = e;
    out[5] = f;
    out[6] = g.a + 1000.0 * g.b;
    out[7] = h.bytes[0] + 100 * h.bytes[6];
    out[8] = i.v[0] + 10 * i.v[3];
    out[9] = j;
    out[10] = k.x + 10 * k.y + 100 * k.z;
}

__global__ void large(double* out, Large l, int after) {
    double sum = 0;
    for (int i = 0; i < 500; ++i) sum += l.values[i];
    out[0] = sum;
    out[1] = l.tail;
    out[2] = after;
}

__global__ void none() {}

__global__ void sixteen(double* out, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
                        int k, int l, int m, int n, int o) {
    out[0] = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l +
             13 * m + 14 * n + 15 * o;
}

int main() {
    double* device = nullptr;
    double back[11] = {};
    NEED(hipMalloc(&device, sizeof back));
    auto see = [&](const char* label, int count) {
        show(label, hipGetLastError());
        NEED(hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost));
        for (int i = 0; i < count; ++i) line("%s, %d: %.17g", label, i, back[i]);
    };
    Odd odd = {{1, 2, 3, 4, 5, 6, 7}};
    Aligned aligned = {{1, 2, 3, 4}};
    mixed<<<1, 1>>>(device, 'a', -5, 1 << 30, -(1ll << 40), 0.5f, 1e300, Small{'z', -3}, odd, aligned, true,
                    make_float3(1, 2, 3));
    see("mixed", 11);
    Large l;
    for (int i = 0; i < 500; ++i) l.values[i] = i;
    l.tail = 0.125;
    large<<<1, 1>>>(device, l, -9);
    see("large", 3);
    none<<<1, 1>>>();
    see("none", 0);
    sixteen<<<1, 1>>>(device, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    see("sixteen", 1);
    // Arguments are copied by the call: what it was given may change at once.
    int values[15];
    for (int i = 0; i < 15; ++i) values[i] = 1;
    void* args[16] = {&device};
    for (int i = 0; i < 15; ++i) args[i + 1] = &values[i];
    show("launch",
         hipLaunchKernel(reinterpret_cast<const void*>(sixteen), dim3(1), dim3(1), args, 0, nullptr));
    for (int i = 0; i < 15; ++i) values[i] = 1000;
    see("copied", 1);
    NEED(hipFree(device));
}
