package roselle.backend.memory;

import java.util.List;
import roselle.tensor.DataType;

/** The pages of keys and values of all groups on a device; the page tables of a step say whose they are. */
public interface KvCache {
    List<KvGroup> groups();

    /** How keys and values are stored: F32, F16 or BF16; rows and states of {@link KvGroup#isState} are F32 always. */
    DataType type();

    int pageTokens();

    /** Pages of one group. */
    int pages(int group);
}
