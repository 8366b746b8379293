r"""Words and commands that have a meaning in a formula."""

FUNCTIONS = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech"
    " csch arcsinh arccosh arctanh arsinh arcosh artanh exp ln log lg lb sgn det arg dim ker Re Im"
    " deg gcd lcm max min sup inf erf cis"
).split()
_ALSO = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
_ALSO |= {"acosh": "arccosh", "atanh": "arctanh", "cosec": "csc", "sign": "sgn", "cotan": "cot"}
_ALSO |= {"ctg": "cot", "tg": "tan", "arctg": "arctan", "arcctg": "arccot", "sh": "sinh"}

# What is a command though it has no backslash.
COMMAND_WORDS = {name: "\\" + name for name in FUNCTIONS if name not in ("deg", "dim", "arg")}
COMMAND_WORDS |= {name: "\\" + meant for name, meant in _ALSO.items()}
COMMAND_WORDS |= {
    "sqrt": r"\usqrt", "cbrt": r"\cbrt", "pi": r"\pi", "infinity": r"\infty", "infty": r"\infty",
    "oo": r"\infty", "theta": r"\theta", "alpha": r"\alpha", "beta": r"\beta", "gamma": r"\gamma",
    "delta": r"\delta", "lambda": r"\lambda", "omega": r"\omega", "mu": r"\mu", "sigma": r"\sigma",
    "phi": r"\phi", "rho": r"\rho", "mod": r"\mod", "abs": r"\abs", "floor": r"\floor",
    "ceil": r"\ceil", "binom": r"\binomial", "binomial": r"\binomial", "union": r"\cup",
    "Union": r"\cup", "factorial": r"\factorial", "frac": r"\frac", "inf": r"\infty",
}  # fmt: skip
FUNCTION_COMMANDS = frozenset("\\" + name for name in [*FUNCTIONS, *_ALSO])
CANONICAL = {"\\" + name: meant for name, meant in _ALSO.items()}
CANONICAL |= {r"\arsinh": "arcsinh", r"\arcosh": "arccosh", r"\artanh": "arctanh"}

# Short words that join or limit answers, and are no products of letters.
GLUE_WORDS = frozenset(
    "and or to is if the for are all not no as at by of per any where with when base than its it"
    " yes am pm".split()
)
SHORT_UNITS = frozenset(
    "km cm mm nm mi yd ft in lb lbs oz kg mg ml mL kL cL dL hr hrs min sec ms ns kJ MJ kW MW GW mW"
    " Hz kHz MHz GHz Pa kPa MPa mA mV kV kN mol rad deg mph kph eV keV MeV GeV USD EUR GBP cal cc"
    " bps GB MB KB TB ha mJ".split()
)
INTEGER_LETTERS = frozenset("k n m l j p q t z".split())
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
NUMBER_WORDS |= {
    word: 10 * tens
    for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), start=3)
}
# What a whole is divided into: two thirds.
PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6}
PARTS |= {"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "hundredth": 100}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
# Words that take back what they stand before.
DENYING = frozenset("not nor never neither wrong incorrect false except unless than".split())
# Words after a number that change what it says: they are never the name of what is counted.
NO_NOUNS = frozenset(
    "not no nor or and if unless except least most less more greater fewer than over under above"
    " below between from to until but either neither both whichever when where otherwise maybe"
    " possibly undefined impossible cannot depends divided remainder plus minus times choose sum"
    " product difference quotient squared cubed half double twice negative positive dozen hundred"
    " thousand million billion trillion even odd respectively wrong incorrect false true yes never"
    " perhaps probably ish so".split()
)
