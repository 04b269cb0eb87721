package roselle.bench.chart;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/** A drawing of a size and with a title, on whatever it is drawn. */
public final class Picture {
    private final String title;
    private final int width;
    private final int height;
    private final Consumer<Canvas> drawing;

    Picture(String title, int width, int height, Consumer<Canvas> drawing) {
        this.title = title;
        this.width = width;
        this.height = height;
        this.drawing = drawing;
    }

    public String title() {
        return title;
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    void draw(Canvas canvas) {
        drawing.accept(canvas);
    }

    /** As SVG, a document of its own or an element of a page. */
    public String svg() {
        return SvgCanvas.of(this);
    }

    /** As PNG, with letters of strokes where Java finds no font. */
    public byte[] png() {
        return png(ImageCanvas.findsFonts());
    }

    byte[] png(boolean hasFonts) {
        try {
            var bytes = new ByteArrayOutputStream();
            ImageCanvas.write(this, bytes, hasFonts);
            return bytes.toByteArray();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
