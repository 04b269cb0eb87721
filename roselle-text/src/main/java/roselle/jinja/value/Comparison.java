package roselle.jinja.value;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import roselle.jinja.text.Limits;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;

/** Python's equality, order and sorting. */
public final class Comparison {
    private Comparison() {}

    public static boolean equal(Rendering rendering, Object left, Object right) {
        return equal(rendering, left, right, 0);
    }

    private static boolean equal(Rendering rendering, Object left, Object right, int depth) {
        rendering.step();
        if (depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("values are nested too deeply to be compared");
        }
        if (Types.isIdentical(left, right)) {
            return !(Numbers.isNaN(left) && depth == 0);
        }
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return !Numbers.isNaN(left) && !Numbers.isNaN(right) && Numbers.compare(left, right) == 0;
        }
        return switch (left) {
            case String text -> Types.isText(right) && equalTexts(rendering, text, plain(right));
            case Markup(String text) -> Types.isText(right) && equalTexts(rendering, text, plain(right));
            case Undefined _ -> right instanceof Undefined;
            case Dictionary first -> right instanceof Dictionary second && equalItems(rendering, first, second, depth);
            case List<?> first -> right instanceof List<?> second && equalMembers(rendering, first, second, depth);
            case Tuple tuple ->
                right instanceof Tuple otherTuple && equalMembers(rendering, tuple.items(), otherTuple.items(), depth);
            case Range first -> right instanceof Range second && equalRanges(first, second);
            case View first -> right instanceof View second && equalViews(rendering, first, second, depth);
            default -> false;
        };
    }

    /** Whether the first comes before the second; a fault where Python knows no order. */
    public static boolean less(Rendering rendering, Object left, Object right) {
        return order(rendering, "<", left, right, 0) == Order.BEFORE;
    }

    public static boolean compare(Rendering rendering, String operator, Object left, Object right) {
        var order = order(rendering, operator, left, right, 0);
        return switch (operator) {
            case "<" -> order == Order.BEFORE;
            case "<=" -> order == Order.BEFORE || order == Order.SAME;
            case ">" -> order == Order.AFTER;
            default -> order == Order.AFTER || order == Order.SAME;
        };
    }

    /** A stable sort that asks for nothing but {@code less}, so that values without a total order do no harm. */
    public static List<Object> sort(Rendering rendering, List<Object> values, List<Object> keys, boolean reverse) {
        rendering.chargeElements(values.size());
        var order = new ArrayList<Integer>();
        for (int i = 0; i < values.size(); i++) {
            order.add(i);
        }
        if (reverse) {
            Collections.reverse(order);
        }
        var places = order.toArray(new Integer[0]);
        mergeSort(rendering, places, places.clone(), 0, places.length, keys);
        var sorted = new ArrayList<>();
        for (int place : places) {
            sorted.add(values.get(place));
        }
        if (reverse) {
            Collections.reverse(sorted);
        }
        return sorted;
    }

    private static void mergeSort(
            Rendering rendering, Integer[] places, Integer[] spare, int from, int to, List<Object> keys) {
        if (to - from < 2) {
            return;
        }
        int middle = (from + to) >>> 1;
        mergeSort(rendering, spare, places, from, middle, keys);
        mergeSort(rendering, spare, places, middle, to, keys);
        int first = from;
        int second = middle;
        for (int i = from; i < to; i++) {
            boolean takeSecond = second < to
                    && (first >= middle || less(rendering, keys.get(spare[second]), keys.get(spare[first])));
            places[i] = takeSecond ? spare[second++] : spare[first++];
        }
    }

    private enum Order {
        BEFORE,
        SAME,
        AFTER,
        /** Of NaN with anything. */
        NONE
    }

    private static Order order(Rendering rendering, String operator, Object left, Object right, int depth) {
        rendering.step();
        if (depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("values are nested too deeply to be compared");
        }
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            boolean unordered = Numbers.isNaN(left) || Numbers.isNaN(right);
            return unordered ? Order.NONE : of(Numbers.compare(left, right));
        }
        if (Types.isText(left) && Types.isText(right)) {
            rendering.charge(Math.min(plain(left).length(), plain(right).length()));
            return of(Text.compare(plain(left), plain(right)));
        }
        if (left instanceof List<?> first && right instanceof List<?> second) {
            return orderMembers(rendering, operator, first, second, depth);
        }
        if (left instanceof Tuple tuple && right instanceof Tuple otherTuple) {
            return orderMembers(rendering, operator, tuple.items(), otherTuple.items(), depth);
        }
        throw unordered(operator, left, right);
    }

    private static Order orderMembers(Rendering rendering, String operator, List<?> first, List<?> second, int depth) {
        int common = Math.min(first.size(), second.size());
        for (int i = 0; i < common; i++) {
            if (!equal(rendering, first.get(i), second.get(i), depth + 1)) {
                return order(rendering, operator, first.get(i), second.get(i), depth + 1);
            }
        }
        return of(Integer.compare(first.size(), second.size()));
    }

    private static Order of(int comparison) {
        return comparison < 0 ? Order.BEFORE : comparison > 0 ? Order.AFTER : Order.SAME;
    }

    private static TemplateFault unordered(String operator, Object left, Object right) {
        if (left instanceof Undefined undefined) {
            return undefined.fault();
        }
        if (right instanceof Undefined undefined) {
            return undefined.fault();
        }
        return new TemplateFault("'" + operator + "' not supported between instances of '" + Types.name(left)
                + "' and '" + Types.name(right) + "'");
    }

    private static boolean equalTexts(Rendering rendering, String left, String right) {
        if (left.length() != right.length()) {
            return false;
        }
        rendering.charge(left.length());
        return left.equals(right);
    }

    private static String plain(Object text) {
        return text instanceof Markup(String plain) ? plain : (String) text;
    }

    private static boolean equalMembers(Rendering rendering, List<?> left, List<?> right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (int i = 0; i < left.size(); i++) {
            if (!equal(rendering, left.get(i), right.get(i), depth + 1)) {
                return false;
            }
        }
        return true;
    }

    private static boolean equalItems(Rendering rendering, Dictionary left, Dictionary right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (var entry : left.entries()) {
            var other = right.find(rendering, entry.key());
            if (other == null || !equal(rendering, entry.value(), other, depth + 1)) {
                return false;
            }
        }
        return true;
    }

    private static boolean equalRanges(Range left, Range right) {
        if (left.length() != right.length() || left.length() == 0) {
            return left.length() == right.length();
        }
        return left.start() == right.start() && (left.length() == 1 || left.step() == right.step());
    }

    /** Views of keys and of items are sets; views of values are equal to themselves only. */
    private static boolean equalViews(Rendering rendering, View left, View right, int depth) {
        if (left.name().equals("dict_values") || !left.name().equals(right.name())) {
            return false;
        }
        if (left.members().size() != right.members().size()) {
            return false;
        }
        for (Object member : left.members()) {
            if (right.members().stream().noneMatch(other -> equal(rendering, member, other, depth + 1))) {
                return false;
            }
        }
        return true;
    }
}
