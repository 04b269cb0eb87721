/** Rows in, answers out, in their order: batches of rows for engines of data. */
module roselle.offline {
    requires transitive roselle.engine;

    exports roselle.offline;
}
