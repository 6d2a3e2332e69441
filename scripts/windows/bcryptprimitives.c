/* Wine 8 lacks this DLL of Windows 8 and newer, which Rust's standard library gets its random numbers from. Tests put
   this one in its place. */
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *data, unsigned long length);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, size_t length) {
  while (length > 0) {
    unsigned long part = length > 0x10000 ? 0x10000 : (unsigned long)length;
    if (!SystemFunction036(data, part)) return 0;
    data += part;
    length -= part;
  }
  return 1;
}
