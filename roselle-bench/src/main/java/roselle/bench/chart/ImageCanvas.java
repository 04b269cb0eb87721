package roselle.bench.chart;

import java.awt.AWTError;
import java.awt.AlphaComposite;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import javax.imageio.ImageIO;

/** Draws pixels, at twice the size so that a fine screen shows fine lines; needs no display. */
final class ImageCanvas implements Canvas {
    private static final int SCALE = 2;

    private final Graphics2D graphics;
    private final boolean hasFonts;

    private ImageCanvas(Graphics2D graphics, boolean hasFonts) {
        this.graphics = graphics;
        this.hasFonts = hasFonts;
    }

    /** Writes a picture as PNG, with the machine's fonts or with letters of strokes. */
    static void write(Picture picture, OutputStream out, boolean hasFonts) throws IOException {
        System.setProperty("java.awt.headless", "true");
        var image = new BufferedImage(picture.width() * SCALE, picture.height() * SCALE, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        try {
            graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
            graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
            graphics.setColor(Color.WHITE);
            graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
            graphics.scale(SCALE, SCALE);
            picture.draw(new ImageCanvas(graphics, hasFonts));
        } finally {
            graphics.dispose();
        }
        ImageIO.write(image, "png", out);
    }

    @Override
    public void line(List<Point> points, Ink ink) {
        use(ink);
        graphics.draw(path(points));
    }

    @Override
    public void area(List<Point> corners, Ink ink) {
        use(ink);
        Path2D path = path(corners);
        path.closePath();
        graphics.fill(path);
    }

    @Override
    public void circle(Point center, double radius, boolean isFilled, Ink ink) {
        var circle = new Ellipse2D.Double(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius);
        use(isFilled ? ink : new Ink(0xffffff, 1, 1));
        graphics.fill(circle);
        use(ink);
        graphics.draw(circle);
    }

    @Override
    public void text(Point at, String text, int size, Anchor anchor, boolean isUpward) {
        use(new Ink(Ink.TEXT.color(), 1, StrokeFont.lineWidth(size)));
        var before = graphics.getTransform();
        graphics.translate(at.x(), at.y());
        graphics.rotate(isUpward ? -Math.PI / 2 : 0);
        if (hasFonts) {
            graphics.setFont(font(size));
            double length = graphics.getFontMetrics().stringWidth(text);
            graphics.drawString(text, (float) shift(anchor, length), 0);
        } else {
            graphics.translate(shift(anchor, StrokeFont.length(text, size)), 0);
            graphics.draw(StrokeFont.path(text, size));
        }
        graphics.setTransform(before);
    }

    private static double shift(Anchor anchor, double length) {
        return switch (anchor) {
            case START -> 0;
            case MIDDLE -> -length / 2;
            case END -> -length;
        };
    }

    private static Font font(int size) {
        return new Font(Font.SANS_SERIF, Font.PLAIN, size);
    }

    /** Whether Java finds a font here; it says that by failing in one of many ways. */
    static boolean findsFonts() {
        System.setProperty("java.awt.headless", "true");
        Graphics2D graphics = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB).createGraphics();
        try {
            return graphics.getFontMetrics(font(12)).stringWidth("a") > 0;
        } catch (LinkageError | InternalError | AWTError | RuntimeException _) {
            return false; // without fontconfig, without fonts, or without the libraries that read them
        } finally {
            graphics.dispose();
        }
    }

    private void use(Ink ink) {
        graphics.setColor(new Color(ink.color()));
        graphics.setStroke(new BasicStroke((float) ink.width(), BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
        graphics.setComposite(AlphaComposite.getInstance(AlphaComposite.SRC_OVER, (float) ink.opacity()));
    }

    private static Path2D path(List<Point> points) {
        var path = new Path2D.Double();
        for (int i = 0; i < points.size(); i++) {
            Point point = points.get(i);
            if (i == 0) {
                path.moveTo(point.x(), point.y());
            } else {
                path.lineTo(point.x(), point.y());
            }
        }
        return path;
    }
}
