package roselle.grammar.schema;

/** Bytes that may come between the parts of a text, blanks always among them. */
final class Reading {
    static final Reading BLANKS = new Reading("");

    private static final Reading[] OF_VALUES = ofValues(); // by bits of types

    final int[] octets;
    private final long low; // one bit for each of the first 64
    private final long high; // of the next

    Reading(String signs) {
        this.octets = (" \n\r\t" + signs).chars().toArray();
        long first = 0;
        long second = 0;
        for (int octet : octets) {
            first |= octet < 64 ? 1L << octet : 0;
            second |= octet < 64 ? 0 : 1L << octet;
        }
        this.low = first;
        this.high = second;
    }

    boolean has(int octet) {
        return octet < 128 && ((octet < 64 ? low : high) & 1L << octet) != 0;
    }

    private static Reading[] ofValues() {
        Reading[] all = new Reading[1 << ValueType.values().length];
        for (int types = 0; types < all.length; types++) {
            StringBuilder signs = new StringBuilder("]"); // of an array that may be empty
            for (ValueType type : ValueType.values()) {
                signs.append((types & bit(type)) == 0 ? "" : type.signs);
            }
            all[types] = new Reading(signs.toString());
        }
        return all;
    }

    /** What values of some types, or the end of an array in their place, begin with. */
    static Reading ofValue(int types) {
        return OF_VALUES[types];
    }

    @SuppressWarnings("EnumOrdinal") // a bit of this process, never stored
    static int bit(ValueType type) {
        return 1 << type.ordinal();
    }
}
