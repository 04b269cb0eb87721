package roselle.kvcache;

/**
 * Who may share a prefix with whom: pages are shared only between sequences of equal scopes.
 *
 * @param key whose sequences they are; empty where all keys share
 * @param salt the caller's word that keeps its users apart; empty for none
 * @param adapter the adapter (LoRA) whose weights made the keys and values; empty for none
 */
public record PrefixScope(String key, String salt, String adapter) {
    /** The scope of requests that name neither salt nor adapter. */
    public static final PrefixScope SHARED = new PrefixScope("", "");

    /** A scope of nobody's key. */
    public PrefixScope(String salt, String adapter) {
        this("", salt, adapter);
    }
}
