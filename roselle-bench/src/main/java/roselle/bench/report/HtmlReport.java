package roselle.bench.report;

import java.util.Map;
import roselle.bench.chart.Markup;
import roselle.bench.chart.Picture;
import tools.jackson.databind.JsonNode;

/** One page with tables and pictures that needs no other file: no script, no font, no address. */
public final class HtmlReport {
    private static final String STYLE = """
            body { font: 15px/1.5 sans-serif; margin: 2rem auto; max-width: 1040px; padding: 0 1rem; color: #222 }
            h1 { font-size: 24px } h2 { font-size: 19px; margin-top: 2rem }
            table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block; overflow-x: auto }
            th, td { border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top }
            th { background: #f2f2f2 } td.figure { text-align: right; white-space: nowrap }
            svg { width: 100%; height: auto; margin: 1rem 0 } td:last-child { overflow-wrap: anywhere }
            pre { background: #f7f7f7; padding: .5rem; overflow: auto; font-size: 12px }
            """;

    private HtmlReport() {}

    /** The page of some documents, each by a name that tells it apart. */
    public static String of(Map<String, JsonNode> documents, Map<String, Picture> pictures) {
        var page = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>roselle bench</title><style>")
                .append(STYLE)
                .append("</style></head><body>\n<h1>roselle bench</h1>\n");
        boolean isComparison = documents.values().stream()
                        .map(document -> document.path("schema").asString(""))
                        .distinct()
                        .count()
                < documents.size();
        documents.forEach((name, document) -> tables(page, isComparison ? name : "", document));
        pictures.values().forEach(picture -> page.append(picture.svg()));
        documents.forEach((name, document) -> origin(page, name, document));
        return page.append("</body></html>\n").toString();
    }

    private static void tables(StringBuilder page, String name, JsonNode document) {
        page.append("<section>");
        if (!name.isEmpty()) {
            page.append("<p><small>").append(Markup.escaped(name)).append("</small></p>\n");
        }
        boolean isTable = false;
        boolean isList = false;
        for (String line : Markdown.of(document).lines().toList()) {
            boolean isRow = line.startsWith("|");
            boolean isItem = line.startsWith("- ");
            page.append(isTable && !isRow ? "</table>\n" : "").append(isList && !isItem ? "</ul>\n" : "");
            page.append(isRow && !isTable ? "<table>\n" : "").append(isItem && !isList ? "<ul>\n" : "");
            line(page, line, isRow && !isTable);
            isTable = isRow;
            isList = isItem;
        }
        page.append(isTable ? "</table>\n" : "").append(isList ? "</ul>\n" : "").append("</section>\n");
    }

    private static void line(StringBuilder page, String line, boolean isHead) {
        if (line.startsWith("|---")) {
            return;
        }
        if (line.startsWith("|")) {
            row(page, line, isHead ? "th" : "td");
        } else if (line.startsWith("## ")) {
            page.append("<h2>").append(Markup.escaped(line.substring(3))).append("</h2>\n");
        } else if (line.startsWith("- ")) {
            page.append("<li>").append(Markup.escaped(line.substring(2))).append("</li>\n");
        } else if (!line.isBlank()) {
            page.append("<p>").append(Markup.escaped(line)).append("</p>\n");
        }
    }

    private static void row(StringBuilder page, String line, String tag) {
        page.append("<tr>");
        for (String cell : line.substring(2, line.length() - 2).split(" \\| ", -1)) {
            page.append('<').append(tag).append(isFigure(cell) ? " class=\"figure\">" : ">");
            page.append(Markup.escaped(cell.replace("\\|", "|")));
            page.append("</").append(tag).append('>');
        }
        page.append("</tr>\n");
    }

    private static boolean isFigure(String cell) {
        return !cell.isEmpty() && cell.chars().allMatch(c -> "0123456789.,/ ±+-–()%".indexOf(c) >= 0);
    }

    /** Where the figures come from, at the end of the page. */
    private static void origin(StringBuilder page, String name, JsonNode document) {
        page.append("<details><summary>Where ")
                .append(Markup.escaped(name))
                .append(" was measured</summary><pre>")
                .append(Markup.escaped(document.path("meta").toPrettyString()))
                .append('\n')
                .append(Markup.escaped(document.path("workload").toPrettyString()))
                .append('\n')
                .append(Markup.escaped(document.path("backends").toPrettyString()))
                .append("</pre></details>\n");
    }
}
