package roselle.model;

import java.util.List;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepLimits;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.Widths;
import roselle.tensor.DataType;

/**
 * What a decoder will need, known before anything is loaded or allocated.
 *
 * @param load bytes of the weights, and of what is copied out of them
 * @param workspaceBytes rows between operations, and logits, for the largest step
 * @param kvBytesPerPage for each of the groups, all its layers together
 */
public record MemoryPlan(
        LoadPlan load, long workspaceBytes, List<KvGroup> groups, List<Long> kvBytesPerPage, int pageTokens) {
    public MemoryPlan {
        groups = List.copyOf(groups);
        kvBytesPerPage = List.copyOf(kvBytesPerPage);
    }

    /** The plan for weights whose rows between operations have a type. */
    public static MemoryPlan of(
            LoadPlan load, DecoderSpec spec, StepLimits limits, KvType kvType, DataType activationType) {
        long workspace = Widths.of(spec).elements(spec, limits) * activationType.blockBytes();
        long logits = (spec.generates() ? limits.maxOutputs() : 1L) * spec.vocabulary() * DataType.F32.blockBytes();
        List<KvGroup> groups = spec.kvGroups();
        List<Long> perPage = groups.stream()
                .map(group -> group.pageBytes(limits.pageTokens(), kvType))
                .toList();
        return new MemoryPlan(load, workspace + logits, groups, perPage, limits.pageTokens());
    }

    /** Bytes of the cache with so many pages for each group. */
    public long kvBytes(List<Integer> pages) {
        long bytes = 0;
        for (int group = 0; group < pages.size(); group++) {
            bytes += kvBytesPerPage.get(group) * pages.get(group);
        }
        return bytes;
    }

    /** Bytes of everything. */
    public long totalBytes(List<Integer> pages) {
        return load.weightBytes() + load.copiedBytes() + workspaceBytes + kvBytes(pages);
    }
}
