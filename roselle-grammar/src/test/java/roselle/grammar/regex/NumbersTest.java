package roselle.grammar.regex;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.Test;
import roselle.grammar.automaton.Budget;

class NumbersTest {
    private static final String[] BOUNDS = {
        "0",
        "1",
        "-1",
        "5",
        "10",
        "99",
        "100",
        "-100",
        "0.5",
        "-0.05",
        "0.005",
        "123.456",
        "1e10",
        "-2.5e-3",
        "1e-7",
        "12345678901234567890"
    };

    private final Languages languages = new Languages(new Budget(100_000_000, 10_000_000));
    private final Numbers numbers = new Numbers(languages, 64, true);

    @Test
    void comparesLikeDecimals() {
        Random random = new Random(7);
        for (String bound : BOUNDS) {
            BigDecimal limit = new BigDecimal(bound);
            Language less = languages.and(numbers.normal(), numbers.compared(limit, true, false, false));
            Language equal = languages.and(numbers.normal(), numbers.compared(limit, false, true, false));
            Language greater = languages.and(numbers.normal(), numbers.compared(limit, false, false, true));
            for (int i = 0; i < 300; i++) {
                String text = i < BOUNDS.length ? spelled(BOUNDS[i]) : random(random, limit);
                int order = new BigDecimal(text).compareTo(limit);
                assertThat(languages.matches(less, text))
                        .as("%s < %s", text, bound)
                        .isEqualTo(order < 0);
                assertThat(languages.matches(equal, text))
                        .as("%s = %s", text, bound)
                        .isEqualTo(order == 0);
                assertThat(languages.matches(greater, text))
                        .as("%s > %s", text, bound)
                        .isEqualTo(order > 0);
            }
        }
    }

    @Test
    void knowsWholeNumbersAndMultiples() {
        Random random = new Random(8);
        Language whole = languages.and(numbers.normal(), numbers.integers());
        for (int i = 0; i < 3000; i++) {
            String text = random(random, new BigDecimal("1200"));
            boolean isWhole = new BigDecimal(text).stripTrailingZeros().scale() <= 0;
            assertThat(languages.matches(whole, text)).as(text).isEqualTo(isWhole);
        }
        for (String of : new String[] {"1", "2", "7", "10", "0.01", "0.25", "2.5", "1e2", "1000000"}) {
            Language multiples = languages.and(numbers.plain(), numbers.multiples(new BigDecimal(of)));
            for (int i = 0; i < 300; i++) {
                BigDecimal value = i % 2 == 0
                        ? new BigDecimal(of).multiply(BigDecimal.valueOf(random.nextInt(5000) - 2500))
                        : new BigDecimal(random(random, BigDecimal.TEN));
                String text = value.toPlainString();
                boolean isMultiple = value.remainder(new BigDecimal(of)).signum() == 0;
                assertThat(languages.matches(multiples, text))
                        .as("%s of %s", text, of)
                        .isEqualTo(isMultiple);
            }
        }
    }

    @Test
    void findsThatNoNumberIsLeft() {
        Language between = languages.and(
                numbers.normal(),
                numbers.integers(),
                numbers.compared(new BigDecimal("5.1"), false, false, true),
                numbers.compared(new BigDecimal("5.9"), true, false, false));
        assertThat(languages.isLive(between)).isFalse();
        Language one = languages.and(
                numbers.normal(),
                numbers.integers(),
                numbers.compared(new BigDecimal("5"), false, true, true),
                numbers.compared(new BigDecimal("5"), true, true, false));
        assertThat(languages.isLive(one)).isTrue();
    }

    @Test
    void boundsTellThatNoNumberIsLeft() {
        Random random = new Random(11);
        int found = 0;
        for (int i = 0; i < 300; i++) {
            Language both = languages.and(numbers.normal(), compared(random), languages.not(compared(random)));
            boolean isLive = languages.isLive(both);
            assertThat(numbers.mayHaveSome(both) || !isLive)
                    .as("%d: a number is left", i)
                    .isTrue();
            found += numbers.mayHaveSome(both) ? 0 : 1;
        }
        assertThat(found).as("seen from the bounds").isGreaterThan(50);
    }

    private Language compared(Random random) {
        BigDecimal bound = BigDecimal.valueOf(random.nextInt(5) - 2);
        return numbers.compared(bound, random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
    }

    private static String spelled(String bound) {
        return new BigDecimal(bound).toPlainString();
    }

    /** A number in a spelling that conditions know, often near the bound. */
    private static String random(Random random, BigDecimal near) {
        BigDecimal value = switch (random.nextInt(4)) {
            case 0 -> near.add(BigDecimal.valueOf(random.nextInt(41) - 20, random.nextInt(5)));
            case 1 -> near.multiply(BigDecimal.valueOf(random.nextInt(100), 1));
            case 2 -> near.movePointRight(random.nextInt(5) - 2);
            default -> BigDecimal.valueOf(random.nextInt(2000) - 1000, random.nextInt(4));
        };
        if (random.nextInt(3) > 0 || value.signum() == 0) {
            return value.toPlainString();
        }
        BigDecimal mantissa = value.movePointLeft(value.precision() - value.scale() - 1);
        int exponent = value.precision() - value.scale() - 1;
        String zeros = random.nextBoolean() ? "0" : "";
        String sign = exponent < 0 ? "-" : random.nextBoolean() ? "+" : "";
        return mantissa.toPlainString() + (random.nextBoolean() ? "e" : "E") + sign + zeros + Math.abs(exponent);
    }
}
