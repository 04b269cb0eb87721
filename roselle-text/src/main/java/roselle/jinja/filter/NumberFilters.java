package roselle.jinja.filter;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import roselle.jinja.operation.Arithmetic;
import roselle.jinja.text.NumberReader;
import roselle.jinja.text.NumberText;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Filters that make or change numbers. */
final class NumberFilters {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .named("abs", "", (_, value, _) -> absolute(value))
            .named("int", "default? base?", NumberFilters::integer)
            .named("float", "default?", (rendering, value, arguments) -> real(rendering, value, arguments.or(0, 0.0)))
            .named("round", "precision? method?", NumberFilters::round)
            .named(
                    "filesizeformat",
                    "binary?",
                    (rendering, value, arguments) -> fileSize(rendering, value, arguments.truth(0, false)))
            .build();

    private NumberFilters() {}

    private static Object absolute(Object value) {
        if (value instanceof Double number) {
            return Math.abs(number);
        }
        if (!Numbers.isInteger(value)) {
            throw new TemplateFault("bad operand type for abs(): '" + Types.name(value) + "'");
        }
        return Numbers.normal(Numbers.big(value).abs());
    }

    private static Object integer(Rendering rendering, Object value, Bound arguments) {
        Object otherwise = arguments.or(0, 0L);
        return switch (value) {
            case Undefined undefined -> throw undefined.fault();
            case Double number -> number.isNaN() ? otherwise : Numbers.truncate(number);
            case String text -> integer(rendering, text, otherwise, arguments.integer(1, 10));
            case Markup(String text) -> integer(rendering, text, otherwise, arguments.integer(1, 10));
            default -> Numbers.isInteger(value) ? Numbers.normal(Numbers.big(value)) : otherwise;
        };
    }

    private static Object integer(Rendering rendering, String text, Object otherwise, int base) {
        rendering.charge(text.length());
        var number = NumberReader.integer(text, base);
        if (number.isPresent()) {
            rendering.chargeBits(number.get().bitLength());
            return Numbers.normal(number.get());
        }
        var real = NumberReader.real(text);
        boolean isWhole = real.isPresent() && Double.isFinite(real.getAsDouble());
        return isWhole ? Numbers.truncate(real.getAsDouble()) : otherwise;
    }

    private static Object real(Rendering rendering, Object value, Object otherwise) {
        if (value instanceof Undefined undefined) {
            throw undefined.fault();
        }
        if (Numbers.isNumber(value)) {
            return Numbers.real(value);
        }
        if (!Types.isText(value)) {
            return otherwise;
        }
        String text = PythonText.string(rendering, value);
        rendering.charge(text.length());
        var number = NumberReader.real(text);
        return number.isPresent() ? (Object) number.getAsDouble() : otherwise;
    }

    private static Object round(Rendering rendering, Object value, Bound arguments) {
        String method = arguments.text(1, "common");
        if (!List.of("common", "ceil", "floor").contains(method)) {
            throw new TemplateFault("round: the method must be common, ceil or floor");
        }
        if (!Numbers.isNumber(value)) {
            throw value instanceof Undefined undefined
                    ? undefined.fault()
                    : new TemplateFault("round needs a number, not " + Types.name(value));
        }
        boolean isDefault = method.equals("common");
        if (isDefault && arguments.has(0) && arguments.at(0) == None.NONE) {
            return value instanceof Double number ? halfEven(number) : Numbers.normal(Numbers.big(value));
        }
        return isDefault
                ? round(value, arguments.integer(0, 0))
                : stretched(rendering, value, arguments.or(0, 0L), method.equals("ceil"));
    }

    private static Object halfEven(double number) {
        return Numbers.truncate(Double.isFinite(number) ? Math.rint(number) : number);
    }

    private static Object round(Object value, int places) {
        if (value instanceof Double number) {
            return round(number.doubleValue(), places);
        }
        var number = Numbers.big(value);
        if (places >= 0) {
            return Numbers.normal(number);
        }
        if (-(long) places > number.bitLength() + 1) {
            return 0L;
        }
        var rounded = new BigDecimal(number).setScale(places, RoundingMode.HALF_EVEN);
        return Numbers.normal(rounded.toBigInteger());
    }

    private static double round(double number, int places) {
        // No float has digits beyond these places.
        if (!Double.isFinite(number) || places > 330) {
            return number;
        }
        if (places < -310) {
            return Math.copySign(0.0, number);
        }
        double rounded =
                new BigDecimal(number).setScale(places, RoundingMode.HALF_EVEN).doubleValue();
        if (Double.isInfinite(rounded)) {
            throw new TemplateFault("rounded value too large to represent");
        }
        return Math.copySign(rounded, number);
    }

    private static Object stretched(Rendering rendering, Object value, Object precision, boolean up) {
        var factor = Arithmetic.apply(rendering, Arithmetic.Operator.POWER, 10L, precision);
        var stretched = Arithmetic.apply(rendering, Arithmetic.Operator.MULTIPLY, value, factor);
        Object whole = stretched instanceof Double number
                ? Numbers.truncate(up ? Math.ceil(number) : Math.floor(number))
                : stretched;
        return Arithmetic.apply(rendering, Arithmetic.Operator.DIVIDE, whole, factor);
    }

    private static String fileSize(Rendering rendering, Object value, boolean binary) {
        var converted = real(rendering, value, None.NONE);
        if (!(converted instanceof Double bytes)) {
            throw new TemplateFault("filesizeformat needs a number, not " + Types.name(value));
        }
        double base = binary ? 1024 : 1000;
        if (bytes == 1) {
            return "1 Byte";
        }
        if (bytes < base) {
            return PythonText.string(rendering, Numbers.truncate(bytes)) + " Bytes";
        }
        String prefixes = "kMGTPEZY";
        var unit = BigInteger.valueOf((long) base);
        int prefix = 0;
        unit = unit.multiply(BigInteger.valueOf((long) base));
        while (bytes >= unit.doubleValue() && prefix < prefixes.length() - 1) {
            unit = unit.multiply(BigInteger.valueOf((long) base));
            prefix++;
        }
        String letter = prefixes.substring(prefix, prefix + 1);
        return NumberText.fixed(base * bytes / unit.doubleValue(), 1, false)
                + (binary ? " " + Text.upper(letter) + "iB" : " " + letter + "B");
    }
}
