// In place of a header of HIP's: what it declares for device code stands in hiprtc.h, which every program has.
#pragma once
