package roselle.engine;

import java.util.List;
import java.util.Locale;
import roselle.backend.memory.KvType;

/**
 * What an engine takes of the machine, settled before anything is loaded; nothing is allocated beyond it.
 *
 * @param device its name, how it computes, and why so
 * @param context tokens of the longest prompt and answer together
 * @param maxSequences answers generated at a time
 * @param stepTokens tokens of a step at most
 * @param weightBytes bytes of the tensors, mapped where the device can read them in place
 * @param copiedBytes what is copied out of them: matrices in another order than products want, and small vectors
 * @param kvType how keys and values are stored
 * @param pageTokens tokens that share a page
 * @param caches the page pools, one for each kind of layer
 * @param leastCacheBytes of the caches, which a running engine can go down to: the longest sequence alone fits
 * @param movesPages whether it can ({@link EngineCache#resize})
 * @param workspaceBytes rows between operations, logits, and what a device's kernels need beside them
 * @param adapterBytes what adapters may take of a device's own memory; 0 where they lie in the machine's
 * @param machineBytes memory that the machine has
 */
public record EnginePlan(
        String device,
        int context,
        int maxSequences,
        int stepTokens,
        long weightBytes,
        long copiedBytes,
        KvType kvType,
        int pageTokens,
        List<Cache> caches,
        long leastCacheBytes,
        boolean movesPages,
        long workspaceBytes,
        long adapterBytes,
        long machineBytes) {
    /**
     * A pool of pages.
     *
     * @param name kind of its layers
     * @param layers how many share it
     * @param window tokens that a query of theirs sees; 0 for all
     * @param holdsStates whether a page has a state, and the rows of its tokens, in the place of keys and values
     * @param type how its numbers are stored
     */
    public record Cache(String name, int layers, int window, boolean holdsStates, KvType type, int pages, long bytes) {}

    public EnginePlan {
        caches = List.copyOf(caches);
    }

    public long kvBytes() {
        return caches.stream().mapToLong(Cache::bytes).sum();
    }

    public long totalBytes() {
        return weightBytes + copiedBytes + kvBytes() + workspaceBytes + adapterBytes;
    }

    /** The plan as lines for people. */
    public String describe() {
        var text = new StringBuilder();
        line(text, "device", device);
        line(text, "weights", size(weightBytes) + ", mapped; " + size(copiedBytes) + " copied");
        for (Cache cache : caches) {
            line(
                    text,
                    cache.holdsStates() ? "states" : "kv cache",
                    size(cache.bytes()) + ", " + cache.type().label() + ", " + cache.layers() + " " + cache.name()
                            + " layers, " + cache.pages()
                            + (cache.holdsStates() ? " states, each with rows of " : " pages of ") + pageTokens
                            + " tokens");
        }
        line(
                text,
                "workspace",
                size(workspaceBytes) + " for steps of " + stepTokens + " tokens, " + maxSequences + " sequences");
        if (adapterBytes > 0) {
            line(text, "adapters", size(adapterBytes) + " at most");
        }
        line(text, "total", size(totalBytes()) + " of " + size(machineBytes) + ", context " + context);
        return text.toString();
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(String.format(Locale.ROOT, "%-10s %s%n", name, value));
    }

    /** Bytes for people: {@code 13.5 MiB}. */
    static String size(long bytes) {
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20))
                : String.format(Locale.ROOT, "%.2f GiB", bytes / (double) (1 << 30));
    }
}
