// printf in kernels: formats, order within a thread and between launches.
#include "observe.h"

__global__ void formats(int n) {
    printf("kernel int: %d %5d|%-5d|%05d %u %x %o\n", n, 42, 42, 42, 4000000000u, 255, 8);
    printf("kernel long: %ld %lld %lx\n", -5L, 1ll << 40, 0xabcdefl);
    printf("kernel real: %f %.3f %e %g\n", 1.5, 3.14159, 12345.678, 0.0001);
    printf("kernel text: %s|%10s|%-10s|%c\n", "abc", "right", "left", 'x');
    printf("kernel percent: 100%%\n");
    printf("kernel plain\n");
}

__global__ void step(int i) { printf("kernel step: %d\n", i); }

// DIFFERS kernel text: 5.2.3 loses the second of two strings that are padded; printf of C
int main() {
    formats<<<1, 1>>>(7);
    NEED(hipDeviceSynchronize());
    for (int i = 0; i < 5; ++i) {
        step<<<1, 1>>>(i);
        NEED(hipDeviceSynchronize());
    }
    for (int i = 10; i < 15; ++i) step<<<1, 1>>>(i);
    NEED(hipDeviceSynchronize());
    line("end: of the program");
}
