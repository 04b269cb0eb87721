package roselle.backend.memory;

/**
 * Layers that keep the same kind of pages and therefore share one page table.
 *
 * <p>Layers that attend keep the key and the value of each token. Layers that keep a state ({@link #isState}) need, of what
 * came before a token, the page of the token before it alone: the rows of its tokens so far and, once it is full, the state
 * behind its last token. Their pages are float32, whatever the type of keys and values. Of layers with a window keys and values stay in 16
 * bits where others have codes: their pages are few.
 *
 * @param name for messages: {@code full}, {@code window}, {@code chunk}, {@code latent}, {@code convolution}, {@code delta},
 *     {@code space}, {@code scan}, {@code compressed}
 * @param layers how many layers write to this group
 * @param heads key/value heads of each layer
 * @param keySize elements of one key, or of a row that leads to a state
 * @param valueSize elements of one value; 0 where the value is a prefix of the key (latent attention)
 * @param window tokens that a query sees, itself included; 0 where it sees all
 * @param stateSize numbers of the state behind a page in one layer; {@link #NO_STATE} where layers attend
 * @param isChunked whether the window does not slide: a query sees what is behind the last multiple of it (Llama 4)
 * @param tokens how many a key is made of: that of tokens {@code e * tokens} until {@code (e + 1) * tokens} lies in the page of the
 *     last of them, behind those that end there before it; 1 for a key for each token
 */
public record KvGroup(
        String name,
        int layers,
        int heads,
        int keySize,
        int valueSize,
        int window,
        int stateSize,
        boolean isChunked,
        int tokens) {
    /** Keys and values of all tokens are kept, or of those within a window. */
    public static final int NO_STATE = -1;

    public KvGroup {
        if (layers < 1 || heads < 1 || keySize < 1 || valueSize < 0 || window < 0 || stateSize < NO_STATE) {
            throw new IllegalArgumentException("impossible group " + name + ": " + layers + " layers, " + heads
                    + " heads of " + keySize + " and " + valueSize + ", window " + window + ", state " + stateSize);
        }
        if (isChunked && window == 0) {
            throw new IllegalArgumentException("impossible group " + name + ": chunks of no tokens");
        }
        if (tokens < 1 || (tokens > 1 && (heads != 1 || window != 0 || stateSize != NO_STATE))) {
            throw new IllegalArgumentException("impossible group " + name + ": keys of " + tokens
                    + " tokens are those of one head, without a window");
        }
    }

    /** A key for each token. */
    public KvGroup(
            String name,
            int layers,
            int heads,
            int keySize,
            int valueSize,
            int window,
            int stateSize,
            boolean isChunked) {
        this(name, layers, heads, keySize, valueSize, window, stateSize, isChunked, 1);
    }

    /** Keys that are made of so many tokens each, and are values, too. */
    public static KvGroup compressed(String name, int keySize, int tokens) {
        return new KvGroup(name, 1, 1, keySize, 0, 0, NO_STATE, false, tokens);
    }

    /** Layers that attend to all or within a window that slides, or that keep a state. */
    public KvGroup(String name, int layers, int heads, int keySize, int valueSize, int window, int stateSize) {
        this(name, layers, heads, keySize, valueSize, window, stateSize, false);
    }

    /** Layers that attend. */
    public KvGroup(String name, int layers, int heads, int keySize, int valueSize, int window) {
        this(name, layers, heads, keySize, valueSize, window, NO_STATE);
    }

    /** Layers that keep {@code rowSize} numbers for each token of a page, and {@code stateSize} behind its last one. */
    public static KvGroup ofState(String name, int layers, int rowSize, int stateSize) {
        return new KvGroup(name, layers, 1, rowSize, 0, 0, stateSize);
    }

    /** The same kind with so many layers. */
    public KvGroup withLayers(int count) {
        return new KvGroup(name, count, heads, keySize, valueSize, window, stateSize, isChunked, tokens);
    }

    /** Whether layers go on from a state, and not from all that they saw. */
    public boolean isState() {
        return stateSize != NO_STATE;
    }

    /** Whether pages that lie far enough back are not needed any more. */
    public boolean slides() {
        return window != 0 || isState();
    }

    /** The first page that the token at {@code position} needs. */
    public int firstPageSeen(int position, int pageTokens) {
        if (isState()) {
            return Math.max(0, position / pageTokens - 1);
        }
        return firstSeen(position) / pageTokens;
    }

    /** The first position that a query sees at {@code position}, where layers attend. */
    public int firstSeen(int position) {
        if (window == 0) {
            return 0;
        }
        return isChunked ? position / window * window : Math.max(0, position - window + 1);
    }

    /** Keys of a head in a page at most. */
    public int pageKeys(int pageTokens) {
        return (pageTokens + tokens - 1) / tokens;
    }

    /** Keys of which all tokens lie before a position. */
    public int keysBefore(int position) {
        return position / tokens;
    }

    /** How the numbers of a page are stored in a cache of keys and values of a type. */
    public KvType storedAs(KvType cacheType) {
        if (isState()) {
            return KvType.F32;
        }
        return window != 0 && cacheType.isCoded() ? KvType.F16 : cacheType;
    }

    /**
     * Bytes of a page in one layer: keys {@code [heads, pageKeys]}, then values, then what their codes are multiplied by in the
     * same order, if there are codes; or rows, then the state.
     */
    public long layerBytes(int pageTokens, KvType cacheType) {
        KvType type = storedAs(cacheType);
        long rows = (long) heads * pageKeys(pageTokens) * (type.rowBytes(keySize) + type.rowBytes(valueSize));
        return rows + type.codeBytes(Math.max(0, stateSize));
    }

    /** Bytes of a page, all layers together. */
    public long pageBytes(int pageTokens, KvType cacheType) {
        return layers * layerBytes(pageTokens, cacheType);
    }

    /** Elements that one token adds to this group, all layers together; 0 where a state stays as large as it is. */
    public long elementsPerToken() {
        return isState() ? 0 : (long) layers * heads * (keySize + valueSize) / tokens;
    }
}
