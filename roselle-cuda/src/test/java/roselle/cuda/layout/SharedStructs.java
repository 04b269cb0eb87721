package roselle.cuda.layout;

import java.lang.foreign.StructLayout;
import java.util.List;
import java.util.Map;

/** The structs that the host shares with kernels, by the file that declares them for kernels. */
public final class SharedStructs {
    static final Map<String, List<StructLayout>> BY_FILE = Map.of(
            "adapter/added.cuh", List.of(AddedPartLayout.LAYOUT),
            "common/norms.cuh", List.of(NormArgumentsLayout.LAYOUT),
            "attention/heads.cuh", List.of(RopeArgumentsLayout.LAYOUT),
            "rows/rows.cu", List.of(PageArgumentsLayout.LAYOUT),
            "format/blocks.cuh", List.of(WeightBlockLayout.LAYOUT),
            "attention/latent.cuh", List.of(RowTileLayout.LAYOUT),
            "sampling/sample.cu", List.of(SampleRowLayout.LAYOUT, SampleResultLayout.LAYOUT));

    private SharedStructs() {}

    public static StructLayout of(String name) {
        return BY_FILE.values().stream()
                .flatMap(List::stream)
                .filter(layout -> layout.name().orElseThrow().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("struct " + name + " has no layout"));
    }
}
