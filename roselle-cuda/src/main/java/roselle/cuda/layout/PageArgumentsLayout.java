package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** Where a kernel appends keys and values: {@code struct PageArguments} of {@code rows.cu}. */
public final class PageArgumentsLayout {
    static final StructLayout LAYOUT = CStruct.layout(
            "PageArguments",
            JAVA_LONG.withName("cache"),
            JAVA_LONG.withName("pageElements"),
            JAVA_LONG.withName("pageTable"),
            JAVA_INT.withName("maxPages"),
            JAVA_LONG.withName("rowSequence"),
            JAVA_LONG.withName("positions"));

    public static final CStruct.OfLong CACHE = CStruct.ofLong(LAYOUT, "cache");
    public static final CStruct.OfLong PAGE_ELEMENTS = CStruct.ofLong(LAYOUT, "pageElements");
    public static final CStruct.OfLong PAGE_TABLE = CStruct.ofLong(LAYOUT, "pageTable");
    public static final CStruct.OfInt MAX_PAGES = CStruct.ofInt(LAYOUT, "maxPages");
    public static final CStruct.OfLong ROW_SEQUENCE = CStruct.ofLong(LAYOUT, "rowSequence");
    public static final CStruct.OfLong POSITIONS = CStruct.ofLong(LAYOUT, "positions");

    private PageArgumentsLayout() {}
}
