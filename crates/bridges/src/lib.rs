//! Files of other fields: Parquet, Arrow, MCAP, CSV, NDJSON.
