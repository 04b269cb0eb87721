package roselle.cpu.machine.assembler;

/** What an instruction works on. */
public sealed interface Operand {
    /** A register, by its number. */
    sealed interface Register extends Operand {
        int number();
    }

    /** A general register of 64 bits. */
    enum General implements Register {
        RAX(0),
        RCX(1),
        RDX(2),
        RBX(3),
        RSP(4),
        RBP(5),
        RSI(6),
        RDI(7),
        R8(8),
        R9(9),
        R10(10),
        R11(11),
        R12(12),
        R13(13),
        R14(14),
        R15(15);

        private final int number;

        General(int number) {
            this.number = number;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** A vector register: 16 of 256 bits, which VEX encodes, or 32 of 512 bits, which EVEX encodes. */
    record Vector(int number, int bits) implements Register {
        public Vector {
            boolean isPossible = (bits == 512 && number < 32) || ((bits == 256 || bits == 128) && number < 16);
            if (number < 0 || !isPossible) {
                throw new IllegalArgumentException("no register " + number + " of " + bits + " bits");
            }
        }

        @Override
        public String toString() {
            return switch (bits) {
                        case 128 -> "xmm";
                        case 256 -> "ymm";
                        default -> "zmm";
                    }
                    + number;
        }
    }

    /** A register of 16 rows of 64 bytes. */
    record Tile(int number) implements Register {
        public Tile {
            if (number < 0 || number > 7) {
                throw new IllegalArgumentException("no tile " + number);
            }
        }

        @Override
        public String toString() {
            return "tmm" + number;
        }
    }

    /**
     * {@code [base + index * scale + displacement]}; no index where {@code scale} is 0.
     *
     * @param broadcast whether one number of 32 bits is given to all lanes
     */
    record Memory(General base, General index, int scale, int displacement, boolean broadcast) implements Operand {
        public Memory {
            boolean isScale = scale == 0 || scale == 1 || scale == 2 || scale == 4 || scale == 8;
            if (!isScale || (scale != 0 && index == General.RSP)) {
                throw new IllegalArgumentException("no address with " + index + " times " + scale);
            }
        }

        Memory plus(int bytes) {
            return new Memory(base, index, scale, displacement + bytes, broadcast);
        }

        public Memory toAllLanes() {
            return new Memory(base, index, scale, displacement, true);
        }

        @Override
        public String toString() {
            String indexed = scale == 0 ? "" : "+" + index + "*" + scale;
            return "[" + base + indexed + (displacement < 0 ? "" : "+") + displacement + "]"
                    + (broadcast ? "{1to16}" : "");
        }
    }

    static Vector zmm(int number) {
        return new Vector(number, 512);
    }

    static Vector ymm(int number) {
        return new Vector(number, 256);
    }

    static Memory at(General base, int displacement) {
        return new Memory(base, base, 0, displacement, false);
    }

    static Memory at(General base, General index, int scale, int displacement) {
        return new Memory(base, index, scale, displacement, false);
    }
}
