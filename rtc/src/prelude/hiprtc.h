// Included before every program.
#pragma once
#pragma GCC system_header
#include "core.h"
#include "vector.h"
#include "bits.h"
#include "wave.h"
#include "atomic.h"
#include "half.h"
