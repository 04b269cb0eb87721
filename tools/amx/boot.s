# The firmware of an emulated machine that does one thing: it goes to 64-bit mode, lets the system save AVX-512 and tiles,
# calls the routines that an image in memory lists, writes the pieces of memory that the image lists to port 0xe9, and ends.
#
# The image is the beginning of the firmware, which lies from 4 GiB - 2 MiB on, and is copied to 2 MiB: the number of calls,
# the number of pieces, the address of the calls (address, argument), the address of the pieces (address, bytes). All are
# numbers of 64 bits. What is assembled here is the firmware's last 64 KiB.
        .intel_syntax noprefix
        .equ    base, 0xffff0000
        .equ    image, 0x200000
        .equ    firmware, 0xffe00000
        .equ    tables, 0x10000         # of pages: one of the highest level, one below, four of 2 MiB pages
        .text
start:
        .code16
        cli
        mov     al, 2                   # addresses beyond 1 MiB do not wrap around
        out     0x92, al
        .byte   0x66, 0x2e, 0x0f, 0x01, 0x16    # lgdt cs:[], 32 bits
        .word   gdtr - start
        mov     eax, cr0
        or      al, 1
        mov     cr0, eax
        .byte   0x66, 0xea              # a far jump to 32 bits
        .long   base + (protected - start)
        .word   8
        .code32
protected:
        mov     ax, 16
        mov     ds, ax
        mov     es, ax
        mov     ss, ax
        mov     edi, tables
        xor     eax, eax
        mov     ecx, 6 * 1024
        rep stosd
        mov     dword ptr [tables], tables + 0x1000 + 3
        mov     edi, tables + 0x1000
        mov     eax, tables + 0x2000 + 3
        mov     ecx, 4
1:      mov     [edi], eax
        add     eax, 0x1000
        add     edi, 8
        loop    1b
        mov     edi, tables + 0x2000
        mov     eax, 0x83               # present, writable, 2 MiB
        mov     ecx, 4 * 512
1:      mov     [edi], eax
        add     eax, 0x200000
        add     edi, 8
        loop    1b
        mov     eax, tables
        mov     cr3, eax
        mov     eax, 0x40620            # PAE, OSFXSR, OSXMMEXCPT, OSXSAVE
        mov     cr4, eax
        mov     ecx, 0xc0000080         # EFER
        rdmsr
        or      eax, 0x100              # LME
        wrmsr
        mov     eax, 0x80000003         # paging, protection, the coprocessor's state is watched, not emulated
        mov     cr0, eax
        .byte   0xea                    # a far jump to 64 bits
        .long   base + (long - start)
        .word   24
        .code64
long:
        mov     rsp, 0x80000
        xor     ecx, ecx
        xor     edx, edx
        mov     eax, 0x600e7            # x87, SSE, AVX, AVX-512, tiles
        xsetbv
        cld
        mov     esi, firmware
        mov     edi, image
        mov     ecx, base - firmware
        rep movsb
        mov     rbx, image
        mov     r12, [rbx]
        mov     r13, [rbx + 16]
1:      test    r12, r12
        jz      2f
        mov     rdi, [r13 + 8]
        call    [r13]
        add     r13, 16
        dec     r12
        jmp     1b
2:      mov     r12, [rbx + 8]
        mov     r13, [rbx + 24]
        mov     dx, 0xe9
3:      test    r12, r12
        jz      4f
        mov     rsi, [r13]
        mov     rcx, [r13 + 8]
        rep outsb
        add     r13, 16
        dec     r12
        jmp     3b
4:      lea     rsi, [rip + goodbye]
        mov     rcx, 8
        mov     dx, 0x8900              # Bochs ends when it reads this word there
        rep outsb
5:      hlt
        jmp     5b
goodbye:
        .ascii  "Shutdown"
        .balign 8
gdt:    .quad   0
        .quad   0x00cf9a000000ffff      # code of 32 bits
        .quad   0x00cf92000000ffff      # data
        .quad   0x00af9a000000ffff      # code of 64 bits
gdtr:   .word   31
        .long   base + (gdt - start)
        .org    0xfff0
        .code16
        .byte   0xe9                    # where the processor begins: a jump to the start
        .word   start - (. + 2)
        .org    0x10000
