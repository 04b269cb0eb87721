package roselle.cuda.layout;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.UnionLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.api.DeviceException;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.nvrtc.Compiler;

/**
 * Claims about the structs and constants of a file of kernels, as a program that includes the file and asserts them.
 *
 * <p>The last assertion never holds: so the compiler stops after it has read all of them, before it makes machine code, and
 * names those that do not hold at once.
 */
final class AbiProgram {
    private static final String ARCHITECTURE = "sm_90a"; // the one for which every file compiles
    private static final String END = "every claim was read";
    private static final Pattern ERROR = Pattern.compile("(?m)^[^(\n]*\\(\\d+\\): (?:catastrophic )?error: (.*)$");
    private static final Pattern REFUTED = Pattern.compile("static assertion failed with \"(.*)\"");

    private static final String PREAMBLE = """
            #define OFFSET(STRUCT, MEMBER) __INTADDR__(&((STRUCT*)0)->MEMBER)
            #define TYPE(STRUCT, MEMBER) decltype(((STRUCT*)0)->MEMBER)
            template <class T> constexpr char KIND = 'i';
            template <> constexpr char KIND<bool> = 'z';
            template <> constexpr char KIND<float> = 'f';
            template <> constexpr char KIND<double> = 'd';
            template <class T> constexpr char KIND<T&> = KIND<T>;
            """;

    private final String file;
    private final List<String> claims = new ArrayList<>();

    AbiProgram(String file) {
        this.file = file;
    }

    String file() {
        return file;
    }

    /** Claims that a constant expression of the file has a value. */
    AbiProgram equal(String expression, long value) {
        claims.add(expression + " == " + value);
        return this;
    }

    /** Claims that a struct of the file has a layout: its size, and each member's offset, size and kind. */
    AbiProgram struct(StructLayout layout) {
        String name = layout.name().orElseThrow();
        equal("sizeof(" + name + ")", layout.byteSize());
        members(name, "", 0, layout);
        return this;
    }

    private void members(String struct, String path, long begin, GroupLayout group) {
        long at = begin;
        for (MemoryLayout member : group.memberLayouts()) {
            if (!(member instanceof PaddingLayout)) {
                member(struct, path + member.name().orElseThrow(), at, member);
            }
            at += group instanceof UnionLayout ? 0 : member.byteSize();
        }
    }

    private void member(String struct, String path, long at, MemoryLayout member) {
        String of = "(" + struct + ", " + path;
        equal("OFFSET" + of + ")", at);
        equal("sizeof(TYPE" + of + "))", member.byteSize());
        switch (member) {
            case GroupLayout group -> members(struct, path + ".", at, group);
            case SequenceLayout array -> kind(of + "[0])", array.elementLayout());
            default -> kind(of + ")", member);
        }
    }

    private void kind(String of, MemoryLayout layout) {
        if (!(layout instanceof ValueLayout value)) {
            throw new IllegalArgumentException("no member can be " + layout);
        }
        char kind = switch (value) {
            case ValueLayout.OfBoolean _ -> 'z';
            case ValueLayout.OfFloat _ -> 'f';
            case ValueLayout.OfDouble _ -> 'd';
            default -> 'i';
        };
        claims.add("KIND<TYPE" + of + "> == '" + kind + "'");
    }

    int size() {
        return claims.size();
    }

    /** The claims that do not hold, and all else that the compiler says against the program. */
    List<String> refuted(Compiler compiler, Map<String, String> files) {
        try {
            compiler.compile("abi.cu", text(), files, ARCHITECTURE);
        } catch (DeviceException refused) {
            List<String> errors = errors(String.valueOf(refused.getMessage()));
            if (!errors.remove(END)) {
                throw new AssertionError("the claims about " + file + " were not read", refused);
            }
            return errors;
        }
        throw new AssertionError("the compiler believes what never holds");
    }

    private String text() {
        var text = new StringBuilder("#include \"" + file + "\"\n" + PREAMBLE);
        claims.forEach(claim -> assertion(text, claim, claim));
        assertion(text, "false", END);
        return text.toString();
    }

    private static void assertion(StringBuilder text, String claim, String message) {
        text.append("static_assert(")
                .append(claim)
                .append(", \"")
                .append(message)
                .append("\");\n");
    }

    private static List<String> errors(String log) {
        var errors = new ArrayList<String>();
        Matcher error = ERROR.matcher(log);
        while (error.find()) {
            Matcher refuted = REFUTED.matcher(error.group(1));
            errors.add(refuted.matches() ? refuted.group(1) : error.group(1));
        }
        return errors;
    }

    /** The text of all headers and sources, by the names under which a program includes them. */
    static Map<String, String> files() {
        var files = new LinkedHashMap<>(KernelSource.headers());
        for (KernelSource source : KernelSource.all()) {
            files.put(source.path(), source.text());
        }
        return files;
    }

    @Override
    public String toString() {
        return file;
    }
}
