"""What came out: tables, figures, sentences, one page."""
