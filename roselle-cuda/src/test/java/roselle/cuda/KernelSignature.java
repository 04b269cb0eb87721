package roselle.cuda;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.cuda.kernel.KernelSource;

/**
 * What a kernel's source says that it is launched with.
 *
 * @param parameters in order
 * @param threads of a block at most, 1024 where the source gives no number
 */
record KernelSignature(String name, List<Parameter> parameters, int threads) {
    private static final Pattern KERNEL = Pattern.compile("extern \"C\" __global__ void\\s+");
    private static final Pattern DEFINE = Pattern.compile("(?m)^#define ([A-Z_]+) (.*)$");
    private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"([^\"]+)\"$");
    private static final String BOUNDS = "__launch_bounds__(";
    private static final Map<KernelSource, List<Template>> READ = new HashMap<>();

    /** What a parameter can be. */
    enum Kind {
        POINTER(8),
        WIDE(8),
        NARROW(4),
        STRUCT(0);

        /** Bytes that the host writes; 0 where that depends. */
        final int bytes;

        Kind(int bytes) {
            this.bytes = bytes;
        }
    }

    /** One parameter as it is declared. */
    record Parameter(String text, Kind kind) {
        /** Without the name; of a pointer, what it points to may be missing its asterisk. */
        String type() {
            return text.substring(0, text.lastIndexOf(' ')).strip();
        }
    }

    /** A kernel whose name may have parts that a macro fills in. */
    private record Template(Pattern name, int literals, List<Parameter> parameters, int threads) {}

    /** Finds a kernel of a source; several may come from one macro. */
    static KernelSignature of(KernelSource source, String name) {
        Template best = null;
        for (Template each : templates(source)) {
            if (each.name.matcher(name).matches() && (best == null || each.literals > best.literals)) {
                best = each;
            }
        }
        if (best == null) {
            throw new AssertionError(source.file() + " has no kernel " + name);
        }
        return new KernelSignature(name, best.parameters, best.threads);
    }

    private static synchronized List<Template> templates(KernelSource source) {
        return READ.computeIfAbsent(source, KernelSignature::read);
    }

    private static List<Template> read(KernelSource source) {
        Map<String, String> headers = KernelSource.headers();
        String text = included(source.text(), headers, new TreeMap<>())
                .replaceAll("//[^\n]*", "")
                .replaceAll("\\\\\n", " ");
        var macros = new HashMap<String, String>();
        Matcher define = DEFINE.matcher(text);
        while (define.find()) {
            macros.put(define.group(1), define.group(2).strip());
        }
        var templates = new ArrayList<Template>();
        Matcher kernel = KERNEL.matcher(text);
        while (kernel.find()) {
            templates.add(template(text.substring(kernel.end()), macros));
        }
        return templates;
    }

    private static String included(String text, Map<String, String> headers, Map<String, String> done) {
        Matcher include = INCLUDE.matcher(text);
        var whole = new StringBuilder();
        while (include.find()) {
            String header = include.group(1);
            String body = done.putIfAbsent(header, "") == null
                    ? included(headers.getOrDefault(header, ""), headers, done)
                    : "";
            include.appendReplacement(whole, Matcher.quoteReplacement(body));
        }
        include.appendTail(whole);
        return whole.toString();
    }

    private static Template template(String after, Map<String, String> macros) {
        String rest = after;
        int threads = 1024;
        if (rest.startsWith(BOUNDS)) {
            int end = closing(rest, BOUNDS.length());
            String first = rest.substring(BOUNDS.length(), end).split(",")[0].strip();
            threads = first.chars().allMatch(Character::isDigit) ? Integer.parseInt(first) : threads;
            rest = rest.substring(end + 1).strip();
        }
        int open = rest.indexOf('(');
        var pattern = new StringBuilder();
        int literals = 0;
        for (String part : rest.substring(0, open).strip().split("##")) {
            boolean isFilledIn = part.chars().allMatch(c -> c >= 'A' && c <= 'Z');
            pattern.append(isFilledIn ? "[a-z0-9_]+" : Pattern.quote(part));
            literals += isFilledIn ? 0 : part.length();
        }
        List<Parameter> parameters = parameters(rest.substring(open + 1, closing(rest, open + 1)), macros);
        return new Template(Pattern.compile(pattern.toString()), literals, parameters, threads);
    }

    private static int closing(String text, int from) {
        int depth = 1;
        for (int i = from; i < text.length(); i++) {
            depth += text.charAt(i) == '(' ? 1 : text.charAt(i) == ')' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new AssertionError("a parenthesis is not closed: " + text);
    }

    private static List<Parameter> parameters(String text, Map<String, String> macros) {
        var all = new ArrayList<Parameter>();
        for (String each : text.split(",")) {
            String one = each.strip();
            String macro = macros.get(one);
            if (macro == null) {
                all.add(new Parameter(one, kind(one)));
            } else {
                all.addAll(parameters(macro, macros));
            }
        }
        return all;
    }

    private static Kind kind(String parameter) {
        if (parameter.contains("*")) {
            return Kind.POINTER;
        }
        String type = parameter.substring(0, parameter.lastIndexOf(' ')).strip();
        return switch (type) {
            case "i64", "u64" -> Kind.WIDE;
            case "int", "float", "unsigned", "u32" -> Kind.NARROW;
            case "NormArguments", "RopeArguments", "PageArguments", "const __grid_constant__ TensorMap" -> Kind.STRUCT;
            default -> throw new AssertionError("what is a parameter of type " + type + "?");
        };
    }
}
