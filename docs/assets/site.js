// A table that is wider than the page is scrolled, with the keyboard as well.
function focusable() {
  for (const around of document.getElementsByClassName(
    "md-typeset__scrollwrap",
  )) {
    if (around.scrollWidth > around.clientWidth) around.tabIndex = 0;
    else around.removeAttribute("tabindex");
  }
}
addEventListener("load", focusable);
addEventListener("resize", focusable);
