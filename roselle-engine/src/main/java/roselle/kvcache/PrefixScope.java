package roselle.kvcache;

/**
 * Who may share a prefix with whom: pages are shared only between sequences of equal scopes.
 *
 * @param salt the caller's word that keeps tenants apart; empty for none
 * @param adapter the adapter (LoRA) whose weights made the keys and values; empty for none
 */
public record PrefixScope(String salt, String adapter) {
    /** The scope of requests that name neither salt nor adapter. */
    public static final PrefixScope SHARED = new PrefixScope("", "");
}
