package roselle.cuda.attention;

import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.step.StepMemory;
import roselle.cuda.step.StepShape;

/** One attention of a step: whose rows see which layer of a cache, and where the results go. */
public record AttentionCall(
        StepMemory step, StepShape shape, AttentionLayer layer, CudaKvCache cache, Rows query, Rows output) {
    HeadShape heads() {
        return layer.heads();
    }

    KvGroup group() {
        return cache.groups().get(layer.group());
    }

    /** Heads of queries that share a key head. */
    int sharers() {
        return layer.heads().queryHeads() / layer.heads().keyHeads();
    }

    /** How far rows see, as kernels are told: 0 for all, below 0 where the window does not slide. */
    int window() {
        return group().isChunked() ? -group().window() : group().window();
    }

    /** Whether rows and results can be read and written 16 bytes at a time. */
    boolean isAligned() {
        return CudaBuffer.isAligned(query) && CudaBuffer.isAligned(output);
    }

    /** The address of the layer's first page. */
    long pages() {
        return cache.address(layer.group(), layer.layer());
    }

    /** Numbers of one page of the layer. */
    long pageElements() {
        return cache.pageElements(layer.group());
    }

    /** The address of the first sequence's table of pages. */
    long pageTable() {
        return step.pageTable(layer.group());
    }
}
