package roselle.bench.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class StrokeFontTest {
    @Test
    void hasEveryPrintableCharacterOfAsciiEachWithAShapeOfItsOwn() throws IOException {
        Map<String, String> shapes = new HashMap<>();
        for (int character : IntStream.rangeClosed('!', '~').toArray()) {
            String name = Character.toString(character);
            assertThat(StrokeFont.has(character)).as(name).isTrue();
            @Nullable String other = shapes.put(pixels(picture(name)), name);
            assertThat(other).as(name).isIn(null, character == 'O' ? "0" : null);
        }

        assertThat(shapes).doesNotContainKeys(pixels(picture("")), pixels(picture("\u2603")));
    }

    @Test
    void drawsFromTheBeginningToTheLengthThatIsTold() {
        for (String text : List.of("TTFT p99, ms", "0.4", "a<b", "|", "\u2603x")) {
            Rectangle2D bounds = StrokeFont.path(text, 12).getBounds2D();

            assertThat(bounds.getMinX()).as(text).isCloseTo(0, within(1e-9));
            assertThat(bounds.getMaxX()).as(text).isCloseTo(StrokeFont.length(text, 12), within(1e-9));
            assertThat(bounds.getMinY()).isGreaterThanOrEqualTo(-0.73 * 12);
            assertThat(bounds.getMaxY()).isLessThanOrEqualTo(0.25 * 12);
        }
        assertThat(StrokeFont.length("", 12)).isZero();
    }

    /** Letters by strokes are drawn about where letters of a font would be. */
    @Test
    void writesAWholePictureWithoutAFont() throws IOException {
        BufferedImage image = picture("time to first token");

        assertThat(image.getWidth()).isEqualTo(400);
        assertThat(darkInColumns(image, 0, 20)).isZero();
        assertThat(darkInColumns(image, 100, 300)).isGreaterThan(200);
    }

    private static BufferedImage picture(String text) throws IOException {
        var picture = new Picture(
                "", 200, 40, canvas -> canvas.text(new Canvas.Point(100, 25), text, 14, Canvas.Anchor.MIDDLE, false));
        return ImageIO.read(new ByteArrayInputStream(picture.png(false)));
    }

    private static String pixels(BufferedImage image) {
        int[] pixels = image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
        return IntStream.of(pixels).mapToObj(pixel -> pixel == -1 ? " " : "#").collect(Collectors.joining());
    }

    private static int darkInColumns(BufferedImage image, int from, int to) {
        int dark = 0;
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = from; x < to; x++) {
                dark += (image.getRGB(x, y) & 0xff) < 128 ? 1 : 0;
            }
        }
        return dark;
    }
}
