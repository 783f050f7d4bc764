"""Prepares the pages of docs/ for the program that makes a site from them."""
