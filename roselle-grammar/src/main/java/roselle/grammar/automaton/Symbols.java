package roselle.grammar.automaton;

/**
 * A set of symbols: each of ASCII by itself, those beyond it by their {@link SymbolClasses}.
 *
 * @param low one bit for each of the first 64 symbols
 * @param high the same for the next 64
 * @param beyond classes beyond ASCII, as bits
 */
public record Symbols(long low, long high, long beyond) {
    public static final Symbols NONE = new Symbols(0, 0, 0);

    private static final int FEW_LETTERS = 12;

    /** All symbols of some classes. */
    public static Symbols ofClasses(long classes) {
        long low = 0;
        long high = 0;
        for (int symbol = 0; symbol < 64; symbol++) {
            low |= (classes >>> SymbolClasses.of(symbol) & 1) << symbol;
            high |= (classes >>> SymbolClasses.of(64 + symbol) & 1) << symbol;
        }
        return new Symbols(low, high, classes & SymbolClasses.ALL_BEYOND);
    }

    /** Those that are not in another set. */
    public Symbols without(Symbols other) {
        return new Symbols(low & ~other.low, high & ~other.high, beyond & ~other.beyond);
    }

    /** Those of two sets. */
    public Symbols with(Symbols other) {
        return new Symbols(low | other.low, high | other.high, beyond | other.beyond);
    }

    /** One symbol of ASCII. */
    public static Symbols of(int symbol) {
        return symbol < 64 ? new Symbols(1L << symbol, 0, 0) : new Symbols(0, 1L << symbol, 0);
    }

    /** Whether it has a symbol of ASCII. */
    public boolean has(int symbol) {
        return ((symbol < 64 ? low : high) & 1L << symbol) != 0;
    }

    /** Whether many tokens are made of these alone: those with many letters, or with what lies beyond ASCII. */
    public boolean isWide() {
        long letters = 0x7FF_FFFEL << 32 | 0x7FF_FFFEL; // of both cases, in the high half
        return (beyond & SymbolClasses.WIDE) != 0 || Long.bitCount(high & letters) >= FEW_LETTERS;
    }
}
