package roselle.bench.chart;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws SVG: text that a page can hold inline. */
final class SvgCanvas implements Canvas {
    private final StringBuilder svg = new StringBuilder();

    /** A picture as a whole SVG document, or as an element of a page. */
    static String of(Picture picture) {
        var canvas = new SvgCanvas();
        picture.draw(canvas);
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + picture.width() + " " + picture.height()
                + "\" width=\"" + picture.width() + "\" height=\"" + picture.height()
                + "\" font-family=\"sans-serif\" role=\"img\"><title>" + Markup.escaped(picture.title())
                + "</title><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + canvas.svg + "</svg>\n";
    }

    @Override
    public void line(List<Point> points, Ink ink) {
        svg.append("<polyline fill=\"none\" points=\"")
                .append(list(points))
                .append('"')
                .append(stroke(ink))
                .append("/>\n");
    }

    @Override
    public void area(List<Point> corners, Ink ink) {
        svg.append("<polygon points=\"")
                .append(list(corners))
                .append("\" fill=\"")
                .append(ink.hex())
                .append("\" fill-opacity=\"")
                .append(number(ink.opacity()))
                .append("\"/>\n");
    }

    @Override
    public void circle(Point center, double radius, boolean isFilled, Ink ink) {
        svg.append("<circle cx=\"")
                .append(number(center.x()))
                .append("\" cy=\"")
                .append(number(center.y()))
                .append("\" r=\"")
                .append(number(radius))
                .append("\" fill=\"")
                .append(isFilled ? ink.hex() : "#ffffff")
                .append('"')
                .append(stroke(ink))
                .append("/>\n");
    }

    @Override
    public void text(Point at, String text, int size, Anchor anchor, boolean isUpward) {
        String place = number(at.x()) + "\" y=\"" + number(at.y());
        svg.append("<text x=\"")
                .append(place)
                .append("\" font-size=\"")
                .append(size)
                .append('"');
        svg.append(" fill=\"").append(Ink.TEXT.hex()).append("\" text-anchor=\"");
        svg.append(anchor.name().toLowerCase(Locale.ROOT)).append('"');
        if (isUpward) {
            svg.append(" transform=\"rotate(-90 ")
                    .append(number(at.x()))
                    .append(' ')
                    .append(number(at.y()))
                    .append(")\"");
        }
        svg.append('>').append(Markup.escaped(text)).append("</text>\n");
    }

    private static String stroke(Ink ink) {
        return " stroke=\"" + ink.hex() + "\" stroke-width=\"" + number(ink.width()) + "\" stroke-opacity=\""
                + number(ink.opacity()) + "\"";
    }

    private static String list(List<Point> points) {
        return points.stream()
                .map(point -> number(point.x()) + "," + number(point.y()))
                .collect(Collectors.joining(" "));
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.2f", value);
    }
}
