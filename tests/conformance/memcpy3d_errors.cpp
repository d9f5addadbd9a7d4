// What hipMemcpy3D refuses: empty extents, boxes that leave their memory, missing operands.
#include "observe.h"

static const size_t row = 64, rows = 6, slices = 5, total = row * rows * slices;
static unsigned char* device = nullptr;
static std::vector<unsigned char> host(2 * total);

static hipMemcpy3DParms box() {
    hipMemcpy3DParms p;
    std::memset(&p, 0, sizeof p);
    p.srcPtr = make_hipPitchedPtr(host.data(), row, row, rows);
    p.dstPtr = make_hipPitchedPtr(device, row, row, rows);
    p.extent = make_hipExtent(20, 3, 2);
    p.kind = hipMemcpyHostToDevice;
    return p;
}

// DIFFERS bad kind: 5.2.3 takes any number for a kind; hipErrorInvalidMemcpyDirection is for that
//     (cudaMemcpy3D)
// DIFFERS position too far right: 5.2.3 wraps into the next row; the box must fit (HIP 7 documentation,
//     memcpy node parameters)
// DIFFERS position too deep: 5.2.3 writes behind the allocation; the box must fit (HIP 7 documentation,
//     memcpy node parameters)
int main() {
    NEED(hipMalloc(&device, total));
    hipMemcpy3DParms p = box();
    show("plain", hipMemcpy3D(&p));
    show("null", hipMemcpy3D(nullptr));
    show("null, async", hipMemcpy3DAsync(nullptr, nullptr));
    p.extent = make_hipExtent(0, 3, 2);
    show("width 0", hipMemcpy3D(&p));
    p.extent = make_hipExtent(20, 0, 2);
    show("height 0", hipMemcpy3D(&p));
    p.extent = make_hipExtent(20, 3, 0);
    show("depth 0", hipMemcpy3D(&p));
    p = box();
    p.srcPtr.ptr = nullptr;
    show("null source", hipMemcpy3D(&p));
    p = box();
    p.dstPtr.ptr = nullptr;
    show("null destination", hipMemcpy3D(&p));
    p = box();
    p.kind = hipMemcpyKind(9);
    show("bad kind", hipMemcpy3D(&p));
    p = box();
    p.srcPtr.pitch = 16;
    show("source pitch below the width", hipMemcpy3D(&p));
    p = box();
    p.dstPtr.pitch = 16;
    show("destination pitch below the width", hipMemcpy3D(&p));
    p = box();
    p.extent.width = row + 1;
    show("wider than the row", hipMemcpy3D(&p));
    p = box();
    p.dstPos.x = row - 19;
    show("position too far right", hipMemcpy3D(&p));
    p = box();
    p.dstPos.y = rows - 2;
    show("position too far down", hipMemcpy3D(&p));
    p = box();
    p.dstPos.z = slices - 1;
    show("position too deep", hipMemcpy3D(&p));
    p = box();
    p.extent = make_hipExtent(row, rows, slices + 1);
    show("one slice too many", hipMemcpy3D(&p));
    p = box();
    p.extent = make_hipExtent(row, rows + 1, 1);
    show("more rows than a slice has", hipMemcpy3D(&p));
    hipMemcpy3DParms nothing;
    std::memset(&nothing, 0, sizeof nothing);
    show("all zero", hipMemcpy3D(&nothing));
    show("last error", hipGetLastError());
    NEED(hipFree(device));
}
