package roselle.cuda;

import java.lang.foreign.StructLayout;
import java.util.List;
import java.util.Map;

/** The structs that the host shares with kernels, by the file that declares them for kernels. */
final class SharedStructs {
    static final Map<String, List<StructLayout>> BY_FILE = Map.of(
            "norms.cuh", List.of(NormArgumentsLayout.LAYOUT),
            "heads.cuh", List.of(RopeArgumentsLayout.LAYOUT),
            "rows.cu", List.of(PageArgumentsLayout.LAYOUT),
            "blocks.cuh", List.of(WeightBlockLayout.LAYOUT),
            "latent.cuh", List.of(RowTileLayout.LAYOUT),
            "sample.cu", List.of(SampleRowLayout.LAYOUT, SampleResultLayout.LAYOUT));

    private SharedStructs() {}

    static StructLayout of(String name) {
        return BY_FILE.values().stream()
                .flatMap(List::stream)
                .filter(layout -> layout.name().orElseThrow().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("struct " + name + " has no layout"));
    }
}
