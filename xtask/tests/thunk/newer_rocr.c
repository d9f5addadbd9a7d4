// In ROCr's place: a library with a function that came after 5.2.3, and (with MAIN) a program that opens the driver
// through it.
int hsaKmtOpenKFD(void);

#ifdef MAIN
int open_driver(void);
int main(void) { return open_driver(); }
#else
int hsa_amd_portable_export_dmabuf(void) { return 0; }
int open_driver(void) { return hsaKmtOpenKFD(); }
#endif
