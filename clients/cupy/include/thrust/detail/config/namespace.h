// What CuPy's complex numbers take from rocThrust, which is ROCm's: the namespace that they are in.
#pragma once
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }
