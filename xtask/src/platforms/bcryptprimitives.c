/* bcryptprimitives.dll, which Wine 8 does not have, with the one function that Rust's std calls: it
   takes the keys of hash maps from it. SystemFunction036 of advapi32.dll is RtlGenRandom. */
#include <stddef.h>

#define MOST 0x10000

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *data, unsigned long size);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, size_t size)
{
    while (size > 0) {
        unsigned long part = size > MOST ? MOST : (unsigned long)size;
        if (!SystemFunction036(data, part))
            return 0;
        data += part;
        size -= part;
    }
    return 1;
}
