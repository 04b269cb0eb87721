package roselle.cpu.machine.assembler;

/**
 * The vector and tile instructions that the kernels use, each with its encoding (Intel's manual, volume 2).
 *
 * <p>The names are the manual's. A 256-bit operand chooses the VEX form, a 512-bit operand the EVEX form.
 */
public enum Opcode {
    VMOVUPS(Form.LOAD, 1, 0, 0x10, 64),
    VMOVUPS_STORE("vmovups", Form.STORE, 1, 0, 0x11, 64),
    VMOVNTPS(Form.STORE, 1, 0, 0x2B, 64),
    VBROADCASTSS(Form.LOAD, 2, 1, 0x18, 4),
    VPXORD("vpxord", "vpxor", Form.THREE, 1, 1, 0xEF),
    VPANDD("vpandd", "vpand", Form.THREE, 1, 1, 0xDB),
    VPSHUFB(Form.THREE_BYTES, 2, 1, 0x00, 64),
    VPERMD(Form.THREE, 2, 1, 0x36, 64),
    VPMOVDW(Form.STORE, 2, 2, 0x33, 32),
    VPORD("vpord", "vpor", Form.THREE, 1, 1, 0xEB),
    VPUNPCKLDQ(Form.THREE, 1, 1, 0x62, 64),
    VPUNPCKHDQ(Form.THREE, 1, 1, 0x6A, 64),
    VPUNPCKLQDQ(Form.THREE, 1, 1, 0x6C, 64, true),
    VPUNPCKHQDQ(Form.THREE, 1, 1, 0x6D, 64, true),
    VSHUFI32X4(Form.THREE_IMMEDIATE, 3, 1, 0x43, 64),
    VPERM2I128(Form.THREE_IMMEDIATE, 3, 1, 0x46, 64),
    VPMAXSD(Form.THREE, 2, 1, 0x3D, 64),
    VPMOVSDB(Form.STORE, 2, 2, 0x21, 16),
    VCVTPS2DQ(Form.LOAD, 1, 1, 0x5B, 64),
    VSUBPS(Form.THREE, 1, 0, 0x5C, 64),
    VMINPS(Form.THREE, 1, 0, 0x5D, 64),
    VDIVPS(Form.THREE, 1, 0, 0x5E, 64),
    VMAXPS(Form.THREE, 1, 0, 0x5F, 64),
    VPADDD(Form.THREE, 1, 1, 0xFE, 64),
    VPADDW(Form.THREE_BYTES, 1, 1, 0xFD, 64),
    VPMADDUBSW(Form.THREE_BYTES, 2, 1, 0x04, 64),
    VPMADDWD(Form.THREE_BYTES, 1, 1, 0xF5, 64),
    VPSIGNB(Form.THREE_BYTES, 2, 1, 0x08, 64),
    VPABSB(Form.LOAD, 2, 1, 0x1C, 64),
    VPACKSSDW(Form.THREE, 1, 1, 0x6B, 64),
    VPACKSSWB(Form.THREE_BYTES, 1, 1, 0x63, 64),
    VPSUBD(Form.THREE, 1, 1, 0xFA, 64),
    VPERMW(Form.THREE, 2, 1, 0x8D, 64, true),
    VPERMI2W(Form.THREE, 2, 1, 0x75, 64, true),
    VPERMPS(Form.THREE, 2, 1, 0x16, 64),
    VPTERNLOGD(Form.THREE_IMMEDIATE, 3, 1, 0x25, 64),
    VPSRLW(Form.SHIFT, 1, 1, 0x71, 64, 2),
    VPSLLW(Form.SHIFT, 1, 1, 0x71, 64, 6),
    VPSRLD(Form.SHIFT, 1, 1, 0x72, 64, 2),
    VPSLLD(Form.SHIFT, 1, 1, 0x72, 64, 6),
    VPSRAD(Form.SHIFT, 1, 1, 0x72, 64, 4),
    VPMOVSXBD(Form.LOAD, 2, 1, 0x21, 16),
    VPMOVZXBD(Form.LOAD, 2, 1, 0x31, 16),
    VPMOVZXWD(Form.LOAD, 2, 1, 0x33, 32),
    VCVTDQ2PS(Form.LOAD, 1, 0, 0x5B, 64),
    VCVTPH2PS(Form.LOAD, 2, 1, 0x13, 32),
    VCVTNE2PS2BF16(Form.THREE, 2, 3, 0x72, 64),
    VDPBF16PS(Form.THREE, 2, 2, 0x52, 64),
    VPDPBUSD(Form.THREE, 2, 1, 0x50, 64),
    VFMADD213PS(Form.THREE, 2, 1, 0xA8, 64),
    VFMADD231PS(Form.THREE, 2, 1, 0xB8, 64),
    VFMSUB213PS(Form.THREE, 2, 1, 0xAA, 64),
    VFMSUB231PS(Form.THREE, 2, 1, 0xBA, 64),
    VFNMADD231PS(Form.THREE, 2, 1, 0xBC, 64),
    VMULPS(Form.THREE, 1, 0, 0x59, 64),
    VADDPS(Form.THREE, 1, 0, 0x58, 64),
    LDTILECFG(Form.CONFIGURATION, 2, 0, 0x49, 0),
    TILERELEASE(Form.ALONE, 2, 0, 0x49, 0),
    TILEZERO(Form.TILE, 2, 3, 0x49, 0),
    TILELOADD(Form.TILE_LOAD, 2, 3, 0x4B, 0),
    TILESTORED(Form.TILE_STORE, 2, 2, 0x4B, 0),
    TDPBF16PS(Form.TILES, 2, 2, 0x5C, 0),
    TDPBSSD(Form.TILES, 2, 3, 0x5E, 0);

    /** Which operands an instruction has, and which bits hold them. */
    enum Form {
        /** Target register, source register or memory. */
        LOAD,
        /** Target memory, source register. */
        STORE,
        /** Target register, first source register, second source register or memory. */
        THREE,
        /** The same, without a number of 32 bits for all lanes. */
        THREE_BYTES,
        /** The same and a byte. */
        THREE_IMMEDIATE,
        /** Target register, source register, a byte. */
        SHIFT,
        /** Memory alone. */
        CONFIGURATION,
        /** No operand. */
        ALONE,
        /** A tile. */
        TILE,
        /** Target tile, source memory whose index is the distance of rows. */
        TILE_LOAD,
        /** Target memory, source tile. */
        TILE_STORE,
        /** Target and sum, two source tiles. */
        TILES
    }

    private final String wide;
    private final String narrow;
    final Form form;
    final int map; // 1: 0F, 2: 0F38, 3: 0F3A
    final int prefix; // 0: none, 1: 66, 2: F3, 3: F2
    final int code;
    final int memoryBytes; // of a 512-bit instruction's operand in memory: the unit of a short displacement
    final boolean isWide; // W
    final int extension; // the middle field of ModRM where it is part of the opcode

    Opcode(Form form, int map, int prefix, int code, int memoryBytes) {
        this(null, null, form, map, prefix, code, memoryBytes, false, 0);
    }

    Opcode(Form form, int map, int prefix, int code, int memoryBytes, boolean isWide) {
        this(null, null, form, map, prefix, code, memoryBytes, isWide, 0);
    }

    Opcode(Form form, int map, int prefix, int code, int memoryBytes, int extension) {
        this(null, null, form, map, prefix, code, memoryBytes, false, extension);
    }

    Opcode(String name, Form form, int map, int prefix, int code, int memoryBytes) {
        this(name, name, form, map, prefix, code, memoryBytes, false, 0);
    }

    Opcode(String wide, String narrow, Form form, int map, int prefix, int code) {
        this(wide, narrow, form, map, prefix, code, 64, false, 0);
    }

    Opcode(
            @org.jspecify.annotations.Nullable String wide,
            @org.jspecify.annotations.Nullable String narrow,
            Form form,
            int map,
            int prefix,
            int code,
            int memoryBytes,
            boolean isWide,
            int extension) {
        String own = name().toLowerCase(java.util.Locale.ROOT);
        this.wide = wide == null ? own : wide;
        this.narrow = narrow == null ? own : narrow;
        this.form = form;
        this.map = map;
        this.prefix = prefix;
        this.code = code;
        this.memoryBytes = memoryBytes;
        this.isWide = isWide;
        this.extension = extension;
    }

    /** What GNU {@code as} calls it, for operands of so many bits. */
    String mnemonic(int bits) {
        return bits == 512 ? wide : narrow;
    }
}
