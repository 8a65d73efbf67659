// Sets the chosen theme before anything is painted, so that a dark console never flashes white.
document.documentElement.dataset.theme = localStorage.getItem("lamplighter.theme") || "";
