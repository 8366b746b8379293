"""What a trainer or a table passes -> texts, golds, columns, images."""
