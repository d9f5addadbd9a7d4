// Prints for each number what asking for that attribute of device 0 returns, and the answer.
#include <stdio.h>

int hipDeviceGetAttribute(int *value, int attribute, int device);

int main(void) {
  for (int attribute = 0; attribute < 10030; ++attribute) {
    int value = -1;
    int code = hipDeviceGetAttribute(&value, attribute, 0);
    printf("%d %d\n", code, value);
  }
  return 0;
}
