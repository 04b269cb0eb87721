package roselle.backend.reference;

import java.util.List;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;

/** Keys and values as float32 numbers that were rounded, or made codes and read again, as the type of the cache says. */
final class ReferenceCache implements KvCache {
    private final List<KvGroup> groups;
    private final KvType type;
    private final int pageTokens;
    private final int[] pages;
    private final float[][][] keys; // [group][layer, page, head, token][keySize]
    private final float[][][] values; // [group][layer, page, head, token][valueSize]
    private final float[][][] states; // [group][layer, page][stateSize]

    ReferenceCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        keys = new float[groups.size()][][];
        values = new float[groups.size()][][];
        states = new float[groups.size()][][];
        for (int g = 0; g < pages.length; g++) {
            KvGroup group = groups.get(g);
            int entries = group.layers() * pages[g] * group.heads() * pageTokens;
            keys[g] = new float[entries][group.keySize()];
            values[g] = new float[entries][group.valueSize()];
            states[g] = new float[group.layers() * pages[g]][Math.max(0, group.stateSize())];
        }
    }

    private int index(int group, int layer, int page, int head, int position) {
        int heads = groups.get(group).heads();
        return ((layer * pages[group] + page) * heads + head) * pageTokens + position % pageTokens;
    }

    float[] key(int group, int layer, int page, int head, int position) {
        return keys[group][index(group, layer, page, head, position)];
    }

    /** The state behind a page. */
    float[] state(int group, int layer, int page) {
        return states[group][layer * pages[group] + page];
    }

    /** A value; where values are beginnings of keys, the key. */
    float[] value(int group, int layer, int page, int head, int position) {
        boolean isKey = groups.get(group).valueSize() == 0;
        return (isKey ? keys : values)[group][index(group, layer, page, head, position)];
    }

    /** Keeps a key or a value as the type of its group says. */
    void keep(int group, float[] numbers, float[] target) {
        float[] kept = ReferenceCodes.kept(groups.get(group).storedAs(type), numbers);
        System.arraycopy(kept, 0, target, 0, kept.length);
    }

    void copyPage(int group, int from, int to) {
        KvGroup kind = groups.get(group);
        for (int layer = 0; layer < kind.layers(); layer++) {
            float[] state = state(group, layer, from);
            System.arraycopy(state, 0, state(group, layer, to), 0, state.length);
            for (int head = 0; head < kind.heads(); head++) {
                for (int token = 0; token < pageTokens; token++) {
                    int source = index(group, layer, from, head, token);
                    int target = index(group, layer, to, head, token);
                    keys[group][target] = keys[group][source].clone();
                    values[group][target] = values[group][source].clone();
                }
            }
        }
    }

    @Override
    public List<KvGroup> groups() {
        return groups;
    }

    @Override
    public KvType type() {
        return type;
    }

    @Override
    public int pageTokens() {
        return pageTokens;
    }

    @Override
    public int pages(int group) {
        return pages[group];
    }
}
