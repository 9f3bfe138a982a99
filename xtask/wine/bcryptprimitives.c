/* Wine 8 has no bcryptprimitives.dll. Rust's standard library needs one function of it, to seed its hash maps. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    while (size > 0) {
        ULONG part = size > MAXLONG ? MAXLONG : (ULONG)size;
        if (!RtlGenRandom(data, part))
            return FALSE;
        data += part;
        size -= part;
    }
    return TRUE;
}
