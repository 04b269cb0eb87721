package roselle.cpu.path;

/**
 * How fast a path was.
 *
 * @param path its label
 * @param prompt products of many rows, multiply-adds a second; more than 0
 * @param decode products of one row, the same
 */
record PathRates(String path, double prompt, double decode) {
    PathRates {
        if (!isRate(prompt) || !isRate(decode)) {
            throw new IllegalArgumentException(path + " has rates of " + prompt + " and " + decode);
        }
    }

    private static boolean isRate(double value) {
        return value > 0 && value < Double.POSITIVE_INFINITY;
    }
}
