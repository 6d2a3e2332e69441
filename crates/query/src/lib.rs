//! SQL over logs; the one place that names DataFusion.
