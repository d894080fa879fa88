//! Loop transformations, one file each, and their recipes.
