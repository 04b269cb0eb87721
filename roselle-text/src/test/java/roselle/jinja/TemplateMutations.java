package roselle.jinja;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Templates that are nearly good, in an order that follows from a seed. */
public final class TemplateMutations {
    private final List<String> good;
    private final long seed;
    private final Random random;

    public TemplateMutations(List<String> good, long seed) {
        this.good = List.copyOf(good);
        this.seed = seed;
        random = new Random(seed);
    }

    /** Gives a target so many of them; what it lets escape is told with the seed and the template. */
    public void feed(int inputs, Consumer<byte[]> target) {
        for (int input = 0; input < inputs; input++) {
            String template = mutated();
            try {
                target.accept(template.getBytes(StandardCharsets.UTF_8));
            } catch (RuntimeException | StackOverflowError escaped) {
                throw new AssertionError("seed " + seed + ", input " + input + ": " + template, escaped);
            }
        }
    }

    /** A good template with pieces of the others put in, left out or changed. */
    private String mutated() {
        var template = new StringBuilder(good.get(random.nextInt(good.size())));
        int changes = 1 + random.nextInt(5);
        for (int i = 0; i < changes && !template.isEmpty(); i++) {
            int at = random.nextInt(template.length());
            String other = good.get(random.nextInt(good.size()));
            int from = random.nextInt(other.length());
            String piece = other.substring(from, Math.min(other.length(), from + 1 + random.nextInt(12)));
            switch (random.nextInt(4)) {
                case 0 -> template.insert(at, piece);
                case 1 -> template.delete(at, Math.min(template.length(), at + 1 + random.nextInt(8)));
                case 2 -> template.replace(at, Math.min(template.length(), at + piece.length()), piece);
                default -> template.setCharAt(at, (char) (32 + random.nextInt(95)));
            }
        }
        return template.toString();
    }
}
