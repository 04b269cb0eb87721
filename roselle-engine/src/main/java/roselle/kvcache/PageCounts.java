package roselle.kvcache;

/**
 * Where the pages of one KV group are; free + cached + owned = total.
 *
 * @param total pages of the pool
 * @param free pages that hold nothing
 * @param cached pages of the prefix tree
 * @param owned pages that one sequence writes to
 * @param available free pages and cached ones that no sequence uses
 */
public record PageCounts(int total, int free, int cached, int owned, int available) {}
