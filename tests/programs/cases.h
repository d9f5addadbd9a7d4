// Programs with a defect that `aqlipse check` must find, each with its twin without it.
//
//     PROGRAM NAME         the twin
//     PROGRAM NAME defect  the same with the defect
//     PROGRAM              the names
#pragma once
#include <cstring>

#include "check.h"

struct Case {
  const char* name;
  void (*run)();
};

static bool defect;

template <int N>
int run_case(const Case (&cases)[N], int argc, char** argv) {
  if (argc < 2) {
    for (const auto& one : cases) std::puts(one.name);
    return 0;
  }
  defect = argc > 2 && !std::strcmp(argv[2], "defect");
  for (const auto& one : cases) {
    if (!std::strcmp(one.name, argv[1])) {
      one.run();
      return 0;
    }
  }
  return 2;
}
