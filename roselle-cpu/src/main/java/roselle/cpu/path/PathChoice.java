package roselle.cpu.path;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What is taken of that which was measured, and why.
 *
 * <p>Paths round differently, so that prompts and decode steps have to share one: the one that falls least behind the
 * fastest of its kind in the worse of the two. What is expected to be the best stays where no other is beyond
 * {@link #MARGIN}: machines that differ in nothing but noise then have the same bits. Products of bytes are taken where they
 * are worth it, by {@link #WORTH}, and never where they make decode steps slower.
 */
record PathChoice(Contender taken, String reason) {
    /** How much faster another path of the same kind may be. */
    static final double MARGIN = 1.05;

    /** How much faster prompts have to be for activations of 8 bits. */
    static final double WORTH = 1.5;

    private static final double GIGA = 1e9;

    /**
     * Chooses among contenders, the first of which is expected to be the best of those that do not multiply bytes.
     *
     * @param measured rates of each, in their order
     */
    static PathChoice of(List<Contender> contenders, List<PathRates> measured) {
        var floats = new LinkedHashMap<Contender, PathRates>();
        var bytes = new LinkedHashMap<Contender, PathRates>();
        for (int i = 0; i < contenders.size(); i++) {
            (contenders.get(i).isOfBytes() ? bytes : floats).put(contenders.get(i), measured.get(i));
        }
        Contender taken = leastBehind(floats);
        if (!bytes.isEmpty()) {
            Contender other = leastBehind(bytes);
            PathRates rates = bytes.getOrDefault(other, measured.getFirst());
            boolean isWorthIt = rates.prompt() >= WORTH * most(floats.values()).prompt()
                    && rates.decode() * MARGIN >= most(floats.values()).decode();
            taken = isWorthIt ? other : taken;
        }
        return new PathChoice(taken, reason(measured, contenders.indexOf(taken)));
    }

    /** The first one where it is within the margin. */
    private static Contender leastBehind(Map<Contender, PathRates> rates) {
        PathRates most = most(rates.values());
        Map.Entry<Contender, PathRates> best = null;
        for (Map.Entry<Contender, PathRates> each : rates.entrySet()) {
            double behind = behind(each.getValue(), most);
            if (best == null && behind <= MARGIN) {
                return each.getKey();
            }
            if (best == null || behind < behind(best.getValue(), most)) {
                best = each;
            }
        }
        return java.util.Objects.requireNonNull(best).getKey();
    }

    private static PathRates most(Collection<PathRates> rates) {
        double prompt = rates.stream().mapToDouble(PathRates::prompt).max().orElseThrow();
        double decode = rates.stream().mapToDouble(PathRates::decode).max().orElseThrow();
        return new PathRates("the fastest", prompt, decode);
    }

    /** By which factor the fastest is ahead, in prompts or in decode steps. */
    private static double behind(PathRates rates, PathRates most) {
        return Math.max(most.prompt() / rates.prompt(), most.decode() / rates.decode());
    }

    private static String reason(List<PathRates> measured, int taken) {
        var text = new StringBuilder("measured, in billions of products a second and core of prompts and of one row: ");
        text.append(figures(measured.get(taken)));
        for (int i = 0; i < measured.size(); i++) {
            if (i != taken) {
                text.append("; ").append(measured.get(i).path()).append(' ').append(figures(measured.get(i)));
            }
        }
        return text.toString();
    }

    private static String figures(PathRates rates) {
        return String.format(Locale.ROOT, "%.0f and %.0f", rates.prompt() / GIGA, rates.decode() / GIGA);
    }
}
