package roselle.cpu.path;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.tensor.DataType;

/**
 * Opens what {@code auto} stands for: of the paths that a processor offers, the one that multiplies a model's format best.
 *
 * <p>What a processor offers does not say what is fast on it: some multiply bfloat16 at less than the rate of float32. So
 * each path multiplies a small matrix of the format for a moment, once for a processor, a number of threads and a version;
 * rates are kept among the user's files. What names its path or its precision is never measured, and AMX tiles, which no
 * vector comes near in prompts, are taken where they are, but for float32.
 */
public final class AutomaticPath {
    /** How long products are measured, once their code is written. */
    private static final long LIMIT_NANOS = 40_000_000;

    /** The format of models that are not known. */
    private static final DataType USUAL = DataType.Q8_0;

    private AutomaticPath() {}

    /** Opens the code that options stand for, for weights most of which are of a type. */
    public static MachineCode open(CpuOptions options, Optional<DataType> type) {
        DataType format = type.orElse(USUAL);
        boolean splits = options.precision() == Precision.SPLIT && format == DataType.F32;
        CpuOptions plain = options.precision() == Precision.SPLIT ? options.with(Precision.AUTO) : options;
        if (options.path() != CpuPath.AUTO || plain.precision() != Precision.AUTO) {
            return MachineCode.open(splits && options.path() == CpuPath.AMX ? options : plain);
        }
        Processor processor = Processor.probe();
        List<Contender> contenders =
                splits ? splitting(processor.features()) : contenders(processor.features(), format);
        if (contenders.size() < 2) {
            return MachineCode.open(plain);
        }
        String key = new ProcessorName(processor).key(options.threads(), format);
        List<PathRates> rates = rates(KeptRates.ofUser(), key, contenders, () -> measure(format, contenders));
        if (rates.isEmpty()) {
            return MachineCode.open(plain);
        }
        var choice = PathChoice.of(contenders, rates);
        return MachineCode.open(choice.taken().of(options), choice.reason());
    }

    /**
     * What weights of a format may be multiplied by unless a path is named, with what is expected to be the best first; less
     * than two where nothing has to be measured.
     */
    static List<Contender> contenders(Set<Feature> features, DataType format) {
        boolean isRounded = Precision.AUTO.of(format) == Compute.BF16
                && Panel.of(format, Compute.BF16).isPresent();
        var contenders = new ArrayList<Contender>();
        if (!isRounded || features.contains(Feature.AMX)) {
            return contenders; // float32 is multiplied by the widest vectors that there are
        }
        if (features.contains(Feature.BF16)) {
            contenders.add(new Contender(CpuPath.BF16, Compute.BF16));
        }
        if (features.contains(Feature.AVX512)) {
            contenders.add(new Contender(CpuPath.AVX512, Compute.F32));
        }
        if (features.contains(Feature.AVX2)) {
            contenders.add(new Contender(CpuPath.AVX2, Compute.F32));
        }
        if (Panel.of(format, Compute.INT8).isPresent() && features.contains(Feature.AVX2)) {
            boolean isWide = features.contains(Feature.VNNI);
            contenders.add(new Contender(isWide ? CpuPath.VNNI : CpuPath.AVX2, Compute.INT8));
        }
        return contenders;
    }

    /** The same of float32 that may be split: tiles and the widest vectors. */
    static List<Contender> splitting(Set<Feature> features) {
        return features.contains(Feature.AMX)
                ? List.of(new Contender(CpuPath.AMX, Compute.SPLIT), new Contender(CpuPath.AVX512, Compute.F32))
                : List.of();
    }

    /** What was kept of these contenders, else what is measured now; empty where that does not come about. */
    static List<PathRates> rates(
            KeptRates kept, String key, List<Contender> contenders, Supplier<List<PathRates>> measurement) {
        Optional<List<PathRates>> known = kept.of(key, labels(contenders));
        if (known.isPresent()) {
            return known.get();
        }
        List<PathRates> measured = measurement.get();
        return measured.isEmpty() ? measured : kept.keep(key, measured);
    }

    private static List<String> labels(List<Contender> contenders) {
        return contenders.stream().map(Contender::label).toList();
    }

    /** Empty where the system refuses executable memory. */
    private static List<PathRates> measure(DataType format, List<Contender> contenders) {
        var products = new ArrayList<SmallProduct>();
        try (var arena = Arena.ofShared()) {
            for (Contender contender : contenders) {
                SmallProduct.open(contender, format, arena).ifPresent(products::add);
            }
            boolean areAllThere = products.size() == contenders.size();
            var meter = new PathMeter(System::nanoTime, LIMIT_NANOS);
            return areAllThere ? meter.measure(labels(contenders), products) : List.of();
        } finally {
            products.forEach(SmallProduct::close);
        }
    }
}
