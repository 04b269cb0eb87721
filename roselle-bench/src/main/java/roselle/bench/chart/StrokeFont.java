package roselle.bench.chart;

import java.awt.geom.Path2D;
import java.util.HashMap;
import java.util.Map;

/**
 * Letters made of straight strokes, as a plotter writes them: for machines where Java finds no font.
 *
 * <p>A letter is a list of strokes on a grid, each a list of places: two digits, across and down. Capitals are from 0 down
 * to the base line at 6, small letters begin at 2, and what hangs below ends at 8. A letter is as wide as its strokes. What
 * is not in the table is a box.
 */
final class StrokeFont {
    private static final int BASE_LINE = 6;
    private static final int SPACE = 2;
    private static final int GAP = 2;

    /** Of a letter's nominal size, how much one step of the grid is: capitals are 0.72 of the size high. */
    private static final double STEP = 0.12;

    private static final String BOX = "00 30 36 06 00";

    private static final String TABLE = """
            ! 00 04,06 06
            " 00 02,20 22
            # 10 16,30 36,02 42,04 44
            $ 41 30 10 01 02 13 33 44 45 36 16 05,20 26
            % 40 06,00 10 11 01 00,35 45 46 36 35
            & 46 01 10 20 31 04 05 16 26 44
            ' 00 02
            ( 10 01 05 16
            ) 00 11 15 06
            * 21 25,02 44,04 42
            + 22 26,04 44
            , 16 07
            - 04 34
            . 06 06
            / 06 30
            0 10 30 41 45 36 16 05 01 10
            1 01 20 26,06 46
            2 01 10 30 41 42 06 46
            3 00 40 22 32 43 45 36 16 05
            4 36 30 04 44
            5 40 00 02 32 43 45 36 16 05
            6 30 20 02 05 16 36 45 44 33 13 04
            7 00 40 16
            8 10 30 41 42 33 13 02 01 10,13 04 05 16 36 45 44 33
            9 42 33 13 02 01 10 30 41 44 26 16
            : 03 03,06 06
            ; 13 13,16 07
            < 32 04 36
            = 03 43,05 45
            > 02 34 06
            ? 01 10 30 41 42 23 24,26 26
            @ 34 32 12 14 34 44 41 30 10 01 05 16 46
            A 06 20 46,14 34
            B 00 06 36 45 44 33 03,00 30 41 42 33
            C 41 30 10 01 05 16 36 45
            D 00 06 26 44 42 20 00
            E 40 00 06 46,03 33
            F 40 00 06,03 33
            G 41 30 10 01 05 16 36 45 43 23
            H 00 06,40 46,03 43
            I 00 06
            J 30 35 26 16 05
            K 00 06,40 03 46
            L 00 06 36
            M 06 00 23 40 46
            N 06 00 46 40
            O 10 30 41 45 36 16 05 01 10
            P 06 00 30 41 42 33 03
            Q 10 30 41 45 36 16 05 01 10,34 46
            R 06 00 30 41 42 33 03,23 46
            S 41 30 10 01 02 13 33 44 45 36 16 05
            T 00 40,20 26
            U 00 05 16 36 45 40
            V 00 26 40
            W 00 16 22 36 40
            X 00 46,40 06
            Y 00 23 40,23 26
            Z 00 40 06 46
            [ 10 00 07 17
            \\ 00 36
            ] 00 10 17 07
            ^ 02 20 42
            _ 07 47
            ` 00 11
            a 03 12 22 33 36,34 14 05 16 26 35
            b 00 06,03 12 22 33 35 26 16 05
            c 33 22 12 03 05 16 26 35
            d 30 36,33 22 12 03 05 16 26 35
            e 04 34 33 22 12 03 05 16 26 35
            f 20 11 16,02 22
            g 32 37 28 08,33 22 12 03 05 16 26 35
            h 00 06,03 12 22 33 36
            i 02 06,00 00
            j 12 17 08,10 10
            k 00 06,32 04 36
            l 00 05 16
            m 02 06,03 12 23 26,23 32 43 46
            n 02 06,03 12 22 33 36
            o 12 22 33 35 26 16 05 03 12
            p 02 08,03 12 22 33 35 26 16 05
            q 32 38,33 22 12 03 05 16 26 35
            r 02 06,03 12 22
            s 32 12 03 14 24 35 26 06
            t 10 15 26,02 22
            u 02 05 16 26 35,32 36
            v 02 26 42
            w 02 16 24 36 42
            x 02 36,32 06
            y 02 05 16 26 35,32 37 28 08
            z 02 32 06 36
            { 20 11 13 04 15 17 28
            | 00 07
            } 00 11 13 24 15 17 08
            ~ 04 13 34 43
            – 04 44
            · 04 04
            × 02 46,42 06
            µ 02 08,05 16 26 35,32 36
            """;

    private static final Map<Integer, String> STROKES = strokes();

    private StrokeFont() {}

    private static Map<Integer, String> strokes() {
        Map<Integer, String> strokes = new HashMap<>();
        TABLE.lines().forEach(line -> strokes.put(line.codePointAt(0), line.substring(2)));
        strokes.put((int) ' ', "");
        return strokes;
    }

    /** Whether a character has strokes of its own. */
    static boolean has(int character) {
        return STROKES.containsKey(character);
    }

    /** How long a text is, in the unit of its size. */
    static double length(String text, double size) {
        int steps =
                text.codePoints().map(character -> width(of(character)) + GAP).sum();
        return Math.max(0, steps - GAP) * STEP * size;
    }

    /** A text's strokes, from 0 to its length, on the base line at 0. */
    static Path2D path(String text, double size) {
        var path = new Path2D.Double();
        int left = 0;
        for (int character : text.codePoints().toArray()) {
            String strokes = of(character);
            add(path, strokes, left, STEP * size);
            left += width(strokes) + GAP;
        }
        return path;
    }

    /** How wide lines are at a size. */
    static double lineWidth(double size) {
        return 0.085 * size;
    }

    private static String of(int character) {
        return STROKES.getOrDefault(character, BOX);
    }

    private static int width(String strokes) {
        int most = strokes.isEmpty() ? SPACE : 0;
        for (int i = 0; i < strokes.length(); i += 3) { // a place has two digits and is followed by one separator
            most = Math.max(most, strokes.charAt(i) - '0');
        }
        return most;
    }

    private static void add(Path2D path, String strokes, int left, double step) {
        for (int i = 0; i < strokes.length(); i += 3) {
            double x = (left + strokes.charAt(i) - '0') * step;
            double y = (strokes.charAt(i + 1) - '0' - BASE_LINE) * step;
            if (i == 0 || strokes.charAt(i - 1) == ',') {
                path.moveTo(x, y);
            } else {
                path.lineTo(x, y);
            }
        }
    }
}
