package roselle.hub.file;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import roselle.hub.request.HubException;
import roselle.hub.request.HubName;
import roselle.hub.text.RepositoryPath;
import roselle.hub.text.SafeText;

/** Which GGUF of a repository is meant: by its file, by its quantization, or by default. */
public final class GgufChoice {
    /** Tried in this order where several models are there and none was named. */
    static final List<String> PREFERRED =
            List.of("Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M", "Q6_K", "Q8_0", "BF16", "F16", "F32");

    private static final int MAX_NAMED = 12;
    private static final int DIGITS = 5;
    private static final String SUFFIX = "-00000-of-00000.gguf";
    /** Characters that a quantization's name stands between. */
    private static final String BOUNDARIES = "-._/";

    private GgufChoice() {}

    /** Whether a file is a model, and not its companion such as a projector for pictures. */
    public static boolean isModel(String path) {
        String name = RepositoryPath.name(path).toLowerCase(Locale.ROOT);
        return path.endsWith(".gguf") && !name.contains("mmproj") && !name.contains("imatrix");
    }

    static List<String> byDefault(HubName name, Set<String> paths) {
        SequencedMap<String, List<String>> models = models(paths);
        if (models.isEmpty()) {
            throw none(name, "holds no model.safetensors, no index of one, and no .gguf");
        }
        if (models.size() == 1) {
            return complete(name, models.firstEntry().getValue());
        }
        for (String quantization : PREFERRED) {
            List<String> matching = matching(models.keySet(), quantization);
            if (matching.size() == 1) {
                return complete(name, models.getOrDefault(matching.getFirst(), List.of()));
            }
        }
        throw none(name, "holds several models: add one of them after a colon: " + named(models.keySet()));
    }

    static List<String> byQuantization(HubName name, String quantization, Set<String> paths) {
        SequencedMap<String, List<String>> models = models(paths);
        List<String> matching = matching(models.keySet(), quantization);
        if (matching.size() == 1) {
            return complete(name, models.getOrDefault(matching.getFirst(), List.of()));
        }
        String what = SafeText.of(quantization);
        if (matching.isEmpty()) {
            String advice = models.isEmpty() ? "" : ": it has " + named(models.keySet());
            throw none(name, "has no file and no .gguf called " + what + advice);
        }
        throw none(name, "has several .gguf called " + what + ": write one of " + named(matching));
    }

    /** All parts of the model that a file belongs to. */
    static List<String> partsOf(HubName name, String file, Set<String> paths) {
        return complete(name, models(paths).getOrDefault(stem(file), List.of(file)));
    }

    // ---- models and their parts ----

    /** The files by model, the parts of one under one name: the path without numbers and ending. */
    private static SequencedMap<String, List<String>> models(Collection<String> paths) {
        SequencedMap<String, List<String>> models = new TreeMap<>();
        paths.stream()
                .filter(GgufChoice::isModel)
                .sorted()
                .forEach(path -> models.computeIfAbsent(stem(path), _ -> new ArrayList<>())
                        .add(path));
        return models;
    }

    private static String stem(String path) {
        return path.substring(0, path.length() - (isPart(path) ? SUFFIX.length() : ".gguf".length()));
    }

    private static boolean isPart(String path) {
        int start = path.length() - SUFFIX.length();
        return start > 0
                && path.charAt(start) == '-'
                && path.startsWith("-of-", start + 1 + DIGITS)
                && areDigits(path, start + 1)
                && areDigits(path, start + 5 + DIGITS);
    }

    private static boolean areDigits(String path, int start) {
        return IntStream.range(start, start + DIGITS).allMatch(i -> path.charAt(i) >= '0' && path.charAt(i) <= '9');
    }

    /** The files of a model if none of the parts they count is missing. */
    private static List<String> complete(HubName name, List<String> files) {
        String first = files.getFirst();
        if (!isPart(first)) {
            return files;
        }
        String count = first.substring(first.length() - DIGITS - ".gguf".length());
        int parts = Integer.parseInt(count.substring(0, DIGITS));
        String stem = stem(first);
        List<String> expected = IntStream.rangeClosed(1, Math.min(parts, files.size() + 1))
                .mapToObj(part -> "%s-%05d-of-%s".formatted(stem, part, count))
                .toList();
        for (String part : expected) {
            if (!files.contains(part)) {
                throw none(name, "has not all parts of a model: " + SafeText.of(part) + " is missing");
            }
        }
        return expected;
    }

    // ---- quantizations ----

    /** The models in whose names a quantization stands by itself, whatever its case. */
    private static List<String> matching(Collection<String> models, String quantization) {
        String wanted = quantization.toLowerCase(Locale.ROOT);
        List<String> ending = models.stream()
                .filter(model -> standsIn(RepositoryPath.name(model).toLowerCase(Locale.ROOT), wanted, true))
                .toList();
        return ending.size() == 1
                ? ending
                : models.stream()
                        .filter(model -> standsIn(model.toLowerCase(Locale.ROOT), wanted, false))
                        .toList();
    }

    private static boolean standsIn(String name, String wanted, boolean isAtEnd) {
        for (int at = name.indexOf(wanted); at >= 0; at = name.indexOf(wanted, at + 1)) {
            int end = at + wanted.length();
            boolean begins = at == 0 || BOUNDARIES.indexOf(name.charAt(at - 1)) >= 0;
            boolean ends = end == name.length() || (!isAtEnd && "-./".indexOf(name.charAt(end)) >= 0);
            if (begins && ends) {
                return true;
            }
        }
        return false;
    }

    private static String named(Collection<String> models) {
        String names = models.stream()
                .limit(MAX_NAMED)
                .map(model -> SafeText.of(model + ".gguf"))
                .collect(Collectors.joining(", "));
        return models.size() > MAX_NAMED ? names + " and " + (models.size() - MAX_NAMED) + " more" : names;
    }

    private static HubException none(HubName name, String what) {
        return new HubException(HubException.Kind.NOT_FOUND, name.repository() + " " + what);
    }
}
