r"""Golds and answers by theme, and whether they are the same by docs/answers.md.

A line is `= gold | answer` where the answer is right and `! gold | answer` where it is not. Behind
` || ` stands what the dataset says: `kind=text`, `choices=one / two`, `question=…`. `=c` and `!c`
are whole completions, with ⏎ for a line break; any other answer stands in a box. A gold between
tildes is a list of alternatives: `~car ~ automobile~`.
"""

from typing import NamedTuple


class Pair(NamedTuple):
    golds: list[str]
    text: str
    right: bool
    kind: str | None
    choices: tuple[str, ...]
    question: str


def theme_pairs(table: str) -> list[Pair]:
    """The pairs of a theme."""
    return [_pair(line) for line in table.strip().splitlines()]


def _pair(line: str) -> Pair:
    mark, _, body = line.partition(" ")
    body, _, said = body.partition(" || ")
    gold, _, answer = f"{body} ".partition(" | ")
    settings = dict(part.split("=", 1) for part in said.split("; ") if part)
    golds = gold.strip("~").split(" ~ ") if gold.startswith("~") else [gold]
    answer = answer.strip().replace("⏎", "\n")
    return Pair(
        golds=golds,
        text=answer if mark.endswith("c") else f"So the answer is $\\boxed{{{answer}}}$.",
        right=mark.startswith("="),
        kind=settings.get("kind"),
        choices=tuple(settings["choices"].split(" / ")) if "choices" in settings else (),
        question=settings.get("question", ""),
    )


ANGLE = r"""
= 270^\circ | \frac{3\pi}{2}
= \frac{5\pi}{12} | 75^\circ
= 36^\circ 45' | 36.75^\circ
= 120' | 2^\circ
= \arctan 1 | 45^\circ
= 72^\circ | 72
= 72 | 72^\circ
= 135^\circ | 135 \text{ degrees}
= \angle BAC = 25^\circ | \angle BAC = 25°
= \frac{\pi}{2} | 90°
= 30^\circ | \frac{\pi}{6} \text{ radians}
= 12^\circ 30' 36'' | 12.51^\circ
! 60^\circ | \frac{\pi}{6}
! 150^\circ | \frac{5\pi}{12}
! \frac{\pi}{6} | 30
! 40^\circ | 40'
! 22^\circ 30' | 22.3^\circ
! 100^\circ | 80^\circ
! 65^\circ | 65^\circ \text{ or } 115^\circ
! \frac{\pi}{3} | \frac{\pi}{3}^\circ
= \arcsin\frac{\sqrt3}{2} | 60^\circ
= 45^\circ | \arctan 1
= 90^{\circ} | \frac{\pi}{2}\text{ rad}
= 60^\circ 42' | 60.7^\circ
= 0.5^\circ | 30'
= 360° | 2\pi
= \alpha = 15^\circ | \alpha = \frac{\pi}{12}
= 48^\circ | 48\degree
= 112.5 | 112.5^{\circ}
= \pi - \arccos\frac13 | \arccos\left(-\frac13\right)
= \frac{\pi}{5} | 36^{\circ}
= 67^\circ 30' | \frac{3\pi}{8}
= 20^\circ | \theta = 20^{\circ}
= 50 \text{ degrees} | 50^\circ
= 3^\circ 15' | 195'
= 150^\circ | 150^\circ = \frac{5\pi}{6}
= 30^\circ, 150^\circ | \frac{\pi}{6}, \frac{5\pi}{6}
! 30^\circ | \frac{\pi}{3}
! 2^\circ 15' | 2.15^\circ
! 1^\circ | \pi
! 120^\circ | -120^\circ
! 10^\circ | 10\text{ rad}
! 60^\circ 42' | 60.42^\circ
! 90^\circ | \frac{\pi}{2}^\circ
! \frac{\pi}{4} | 0.25
! 45^\circ | \frac14
! 180^\circ - \alpha | 90^\circ - \alpha
! \arccos\frac12 | 30^\circ
= \arctan\frac34 | 36.87^\circ
= \frac{\pi}{4} | 0.7854
= -\frac{\pi}{4} | -45^\circ
= 40 | m\angle A = 40^\circ
= \frac{11\pi}{6} | 330°
= 30^\circ | 30^{\circ}.
= 1\text{ rad} | 57.3^\circ
= 25^\circ 12' | 25^\circ 12' 0''
= 90^\circ - \alpha | \frac{\pi}{2}-\alpha
= 20^\circ | 20\text{ deg}
! 25^\circ 12' | 25.12^\circ
! 30^\circ | 30\text{ rad}
! \arctan\frac34 | 37^\circ
! 45^\circ | 45^\circ\text{ and }135^\circ
! 75^\circ | 75\%
! 2\pi | 180^\circ
! 120^\circ | 2.1
! 36^\circ | 36^\circ 36'
"""

BASE = r"""
= 1101_2 | 1101_{2}
= 2B_{16} | 2\mathrm{B}_{16}
= 321_5 | 321_{\text{five}}
= 421_6 | (421)_6
= 3210_4 | $3210_4$
= 1F_{16} | \text{1F}_{16}
= 101_2 | 101 \text{ in base 2}
= 44_5 | 44_{5}
= 1000_2, 111_2 | 111_2 \text{ and } 1000_2
= 765_8 | 765_{\text{base }8}
= 0.11_2 | 0.11_{2}
! 1101_2 | 13
! 13 | 1101_2
! 312_4 | 312
! 312_4 | 312_5
! 765_8 | 567_8
! 210_3 | 2103
! 26 | 26_7
! 1010_2 | 1010_{10}
! 654_7 | 654_7, 654_8
= 1011_2 | 1011_{\text{two}}
= 212_3 | 212\text{ base }3
= ABC_{16} | \text{ABC}_{16}
= 12_8 | 12_{8}
= 2010_{3} | 2010_3
= 143_5 | 143_{(5)}
= 6A_{12} | 6\text{A}_{12}
= 110_2 | \boxed{110_2}
= 33_4 | N = 33_4
= 1\,0110_2 | 10110_2
= 10110_2 | 1\,0110_2
= 204_5 | 204 (base 5)
= 1_2 | 1_{2}
=c 54_6 | In base six the product is written $54_6$.⏎⏎**Answer: $54_{6}$**
! 1011_2 | 1011
! 11 | 1011_2
! 212_3 | 212_4
! ABC_{16} | ABC
! 143_5 | 48
! 143_5 | -143_5
! 143_5 | 134_5
! 143_5 | 143
! 33_4 | 33_4 = 15
! 202_3 | 202\text{ base }4
= 1A3_{16} | 1a3_{16}
= 11101_2 | 11101_{\text{(2)}}
= 57_8 | \text{57 in base eight}
= 57_8 | 57 base eight
= 110.01_2 | 110.01_{2}
= 40_7 | (40)_{7}
= 7E5_{16} | \mathtt{7E5}_{16}
! 57_8 | 75_8
! 57_8 | 57_{16}
! 47 | 57_8
! 57_8 | 47
! 120_3 | 12_3
! 110.01_2 | 11001_2
! 1A3_{16} | 1A3
! 12_3, 21_3 | 12_3
"""

CHOICE = r"""
= D | D || kind=choice
= A | \mathrm{(A)} || kind=choice
= C | \textbf{(C) } 24 || kind=choice
= B | Option B || kind=choice
= D | The Nile || kind=choice; choices=Amazon / Danube / Rhine / Nile
= C | 0.75 || kind=choice; choices=$\frac14$ / $\frac12$ / $\frac34$ / $1$
= A | 12\text{ cm} || kind=choice; choices=12 cm / 14 cm / 16 cm / 18 cm
= E | (E) None of the above || kind=choice
= B | b || kind=choice
=c C | Option A fails for n = 2 and B for n = 3. D is too large.⏎⏎The answer is **C**. || kind=choice
=c D | Let us go through the choices. (A) is too small, (B) is negative.⏎<answer>(D)</answer> || kind=choice
= A | \text{A) mitosis} || kind=choice; choices=mitosis / meiosis / osmosis / fusion
! C | (A) and (C) || kind=choice
! A | A, B, C, D || kind=choice
! D | C || kind=choice
! B | Boron || kind=choice; choices=Boron / Beryllium / Barium / Bromine
! A | An answer cannot be given || kind=choice
! C | not C || kind=choice
! B | 4 || kind=choice; choices=4 / 8 / 16 / 32
!c A | I would pick A, but it contradicts the first condition. So the answer is B. || kind=choice
= A | \boxed{(\text{A})} || kind=choice
= E | \textbf{E} || kind=choice
= D | D. || kind=choice
= B | B: 17 || kind=choice
= C | choice (C) || kind=choice
= D | \text{(D) }\frac{3}{8} || kind=choice
= B | \frac{2}{4} || kind=choice; choices=$\frac13$ / $\frac12$ / $\frac23$ / $\frac34$
= A | photosynthesis. || kind=choice; choices=Photosynthesis / Respiration / Fermentation / Digestion
= C | x = 7 || kind=choice; choices=5 / 6 / 7 / 8
= D | D) all of the above || kind=choice; choices=red / green / blue / all of the above
= D | All of the above || kind=choice; choices=red / green / blue / all of the above
=c B | The densities are compared. A floats, C floats.⏎⏎**B** || kind=choice
=c A | Answer: A || kind=choice
=c D | <think>C? no, D.</think> The correct answer is D) 64. || kind=choice
= C | \mathbf{(C)}\;\pi || kind=choice
= B | the letter B || kind=choice
! A | B || kind=choice
! D | A or D || kind=choice
! B | Bismuth || kind=choice; choices=Bismuth / Lead / Tin / Zinc
! C | C and D || kind=choice
! C | \text{Neither B nor C} || kind=choice
! D | Paris || kind=choice; choices=Rome / Paris / Bonn / Dublin
! D | 3 || kind=choice; choices=3 / 4 / 5 / 6
! E | e^2 || kind=choice
! A | a cat || kind=choice; choices=dog / cat / bird / fish
! A | A, C || kind=choice
! B | (A) 5 (B) 6 || kind=choice
!c C | It is either A or C. || kind=choice
!c B | The answer is B if n is even and C if n is odd. || kind=choice
! B | 6 || kind=choice
= B | (B) \text{ Only II} || kind=choice
= A | \text{Answer: A} || kind=choice
= C | C || kind=choice; choices=1 / 2 / 3 / 4
= C | 3 || kind=choice; choices=1 / 2 / 3 / 4
= A | \sqrt{8} || kind=choice; choices=$2\sqrt2$ / $4$ / $\sqrt2$ / $8$
= D | none || kind=choice; choices=one / two / three / none
= B | It is option (B). || kind=choice
= B | B \text{ because it is the largest} || kind=choice
=c E | So **(E) 25** is correct.⏎⏎\boxed{\textbf{(E)}\ 25} || kind=choice
=c C | The correct choice is (C). || kind=choice
=c A | We eliminate B and C. Therefore, the correct answer is **A**. || kind=choice
! B | 3 || kind=choice; choices=1 / 2 / 3 / 4
! A | B. A || kind=choice
! D | D or C || kind=choice
! A | All of them || kind=choice
! C | C2 || kind=choice
! C | c^2 || kind=choice
! B | A B || kind=choice
! D | one, two || kind=choice; choices=one / two / three / none
! C | I, II and III || kind=choice
!c D | Option D is wrong because the sign is off. The remaining one is B.⏎⏎\boxed{B} || kind=choice
"""

DATES_TIMES = r"""
= 7:45 a.m. | 7:45 AM
= 9:15 p.m. | 21:15
= noon | 12:00 p.m. || kind=time
= midnight | 12:00 a.m. || kind=time
= December 25 | 25 December
= March 3, 1847 | 3 March 1847
= November 11, 1918 | 1918-11-11
= Aug. 15, 1947 | August 15th, 1947
= Friday | \text{Friday}.
= 8:00 | 8 o'clock || kind=time
= 90\text{ minutes} | 1.5\text{ hours}
= 3:20 | 3:20 p.m. || question=At what time does the bus leave?
= 4:30 p.m. | 4:30
! 6:10 p.m. | 6:10 a.m.
! 10:45 | 11:45 || kind=time
! June 6, 1944 | July 6, 1944
! 1066 AD | 1066 BC
! Saturday | Sunday
! noon | midnight || kind=time
! 2023-04-01 | January 4, 2023
! 9:30 a.m. | 9:30 a.m. or 10:30 a.m.
= 12:30 a.m. | 00:30
= 12:05 p.m. | 12:05
= 11 p.m. | 23:00
= 6\text{ a.m.} | 6:00 AM
= 3{:}45 \text{ p.m.} | 15:45
= 7:00 | 7\text{ a.m.} || kind=time
= 10:30\text{ AM} | 10:30
= noon | 12\text{ noon} || kind=time
= July 4, 1776 | the 4th of July, 1776
= July 4, 1776 | 4 July 1776
= February 2 | Feb 2
= 2001-09-11 | September 11, 2001
= May 1945 | May, 1945
= Wednesday | on Wednesday
= 753 BC | 753 B.C.E.
= 3 \text{ weeks} | 21 \text{ days}
= 2 \text{ h } 15 \text{ min} | 135 \text{ minutes}
= 1\text{ minute }20\text{ seconds} | 80\text{ s}
= quarter past four | 4:15 || kind=time
= 4:15 | a quarter past four || kind=time
= August | Aug. || kind=text
! 12:30 a.m. | 12:30 p.m.
! 11 p.m. | 11:00 a.m.
! 3:45 p.m. | 3:54 p.m.
! 16:30 | 6:30 p.m. || kind=time
! July 4, 1776 | July 5, 1776
! July 4, 1776 | July 4
! Wednesday | Wednesday or Thursday
! 1999 | 1998 || kind=text
! June | July || kind=text
! 2 \text{ h } 15 \text{ min} | 2.15 \text{ h}
! 2001-09-11 | November 9, 2001
! 753 BC | 753
= 8:05 p.m. | 20:05
= 20:05 | 8:05 p.m. || kind=time
= 12 noon | 12:00 p.m. || kind=time
= 1:00 p.m. | 1 p.m.
= April 1, 2000 | 1 April 2000
= December 7, 1941 | Sunday, December 7, 1941
= 5:00 | five o'clock || kind=time
= 5 \text{ years} | 60 \text{ months}
= Monday | \textbf{Monday}
= 25 December | December 25th
= 1 hour 15 minutes | 75 minutes
= 1 hour 15 minutes | 1.25 hours
= 1969 | 1969 || kind=text
= 100 BC | 100 BCE
= 2024-02-29 | 29 Feb 2024
! April 1, 2000 | April 1, 2001
! 12 noon | 12:00 a.m. || kind=time
! 8:05 p.m. | 8:50 p.m.
! 1 hour 15 minutes | 1.15 hours
! 1 hour 15 minutes | 115 minutes
! 25 December | 24 December
! March | May || kind=text
! Monday | Not Monday
! 100 BC | 100 AD
! 5 \text{ years} | 5 \text{ months}
! 2024-02-29 | 2024-02-28
"""

EQUATION = r"""
= x+y=4 | y=4-x
= 3x-2y+1=0 | -6x+4y-2=0
= y=2x-3 | x=\frac{y+3}{2}
= (x-2)^2+y^2=4 | x^2+y^2=4x
= \frac{x^2}{4}+y^2=1 | x^2+4y^2=4
= x^2=4y | y=\frac14x^2
= x=3 | x-3=0
= y=e^{x} | \ln y=x
= r=2\cos\theta | r-2\cos\theta=0
= 2x-y+3z=6 | \frac{x}{3}-\frac{y}{6}+\frac{z}{2}=1
= x^2+y^2=25 | \sqrt{x^2+y^2}=5
! x+y=4 | x-y=4
! y=2x-3 | y=3x-2
! (x-2)^2+y^2=4 | (x+2)^2+y^2=4
! \frac{x^2}{4}+y^2=1 | x^2+\frac{y^2}{4}=1
! x^2+y^2=25 | x^2+y^2=5
! y=x^2 | y=x
! x^2=4 | x=2
! 0 | a+b=0
! y=\frac{1}{x} | xy=-1
= y=3x+2 | 3x-y=-2
= x-2y=0 | y=\frac{x}{2}
= x^2+y^2-6x=0 | (x-3)^2+y^2=9
= xy=1 | y=\frac1x
= y=\log_2 x | x=2^y
= \frac{x}{2}+\frac{y}{3}=1 | 3x+2y=6
= \frac{x-1}{2}=\frac{y}{3}=\frac{z+1}{4} | \frac{x-1}{4}=\frac{y}{6}=\frac{z+1}{8}
= x=-1 | x+1=0
= y=0 | 2y=0
= PV=nRT | P=\frac{nRT}{V}
= E=mc^2 | m=\frac{E}{c^2}
= x^2-5x+6=0 | (x-2)(x-3)=0
= y=x^2-4x+3 | y=(x-1)(x-3)
= 4x^2-9y^2=0 | y=\pm\frac{2}{3}x
= x+y+z=1 | z=1-x-y
= y = 2x + 1 | \text{The line } y=2x+1
= y=2x+1 | 2x+1
! x-2y=0 | y=2x
! xy=1 | x+y=1
! y=\sqrt{x} | y^2=x
! y=x | y^2=x^2
! y=x^2 | x=y^2
! x=3 | y=3
! x^2+y^2=9 | x^2+y^2=81
! \frac{x^2}{16}-\frac{y^2}{9}=1 | \frac{x^2}{16}+\frac{y^2}{9}=1
! y=2x+1 | y=2x+1, y=2x-1
! x+y+z=1 | x+y-z=1
! x^2=9 | x=3
! x^2-5x+6=0 | x=2
! (x-1)(x-2)=0 | (x-1)(x-3)=0
! y=|x| | y=x
! 0 | 0=x-y
= y=-2x+7 | 2x+y=7
= x^2+y^2+4x-6y=12 | (x+2)^2+(y-3)^2=25
= y=2(x-1)^2+3 | y=2x^2-4x+5
= \frac{x}{a}+\frac{y}{b}=1 | bx+ay=ab
= x=2y | y=0.5x
= y=5 | y-5=0
= \log_3 y=x | y=3^x
= x^2-y^2=1 | y^2=x^2-1
= F=ma | a=\frac{F}{m}
= 3x+4y=12 | y=3-\frac34x
= 3x+4y=12 | y=3-0.75x
= l: x+y-1=0 | x+y=1
= x - y + 2 = 0, x + y - 4 = 0 | x+y=4 \text{ and } x-y=-2
! 3x+4y=12 | 3x+4y=24
! y=2(x-1)^2+3 | y=2(x+1)^2+3
! x^2-y^2=1 | x^2+y^2=1
! y=x^3 | y=x^{1/3}
! F=ma | F=\frac{m}{a}
! x=2y | x=y
! y=5 | x=5
! y=\sqrt{1-x^2} | x^2+y^2=1
! \frac{x}{a}+\frac{y}{b}=1 | \frac{x}{b}+\frac{y}{a}=1
! 7 | x+7=0
! x=1 | x^2=1
! x+y=1 | x+y
"""

EXACT_LARGE_SMALL = r"""
= 2^{100} | 1267650600228229401496703205376
= 10^{-12} | 0.000000000001
= 1.38\times10^{-23} | 1.38e-23
= 123456789012345678 | 123{,}456{,}789{,}012{,}345{,}678
= 7^{77} | 7\cdot 7^{76}
= 4^{500} | 2^{1000}
= \frac{1}{10^{30}} | 10^{-30}
= 19! | 121645100408832000
= 10^{18}+9 | 1000000000000000009
= 0.1 | 0.1000000000000000055
= \frac{3^{50}-1}{2} | 358948993845926294385124
! 2^{100} | 1267650600228229401496703205377
! \frac{1}{2004!} | \frac{1}{2006!}
! 6.63\times10^{-34} | 1.05\times10^{-34}
! 10^{100} | 10^{101}
! 4^{500} | 2^{500}
! e^\pi | \pi+20
! 999999999999 | 10^{12}
! 10^{-30} | 0
! 2^{61}-1 | 2305843009213693952
= 12345678901234567890 | 1.2345678901234567890\times10^{19}
= 6.022\times10^{23} | 602200000000000000000000
= \frac{1}{3^{40}} | 3^{-40}
= 2^{2024} | 4^{1012}
= 10^9+7 | 1000000007
= 0.000001 | 10^{-6}
= 1e-9 | 0.000000001
= 1{,}000{,}000{,}000 | 10^9
= \frac{10^{30}-1}{9} | 111111111111111111111111111111
= 3.3 | 3.3000000000000003
= 18! | 6402373705728000
= \frac{1}{18!} | \frac{1}{6402373705728000}
= 2^{-1074} | 4^{-537}
= 50! | 50\cdot 49!
= 1.0 \times 10^{-10} | 1\times10^{-10}
! 12345678901234567890 | 12345678901234567891
! \frac{1}{50!} | \frac{1}{51!}
! 2^{2024} | 2^{2025}
! 10^{-20} | 10^{-21}
! 1 | 0.99999999999999999999
! 1-10^{-20} | 1
! \sqrt{2} | \frac{1393}{985}
! \frac{22}{7} | \pi
! e^{10} | 22026
! 6.674\times10^{-11} | 6.647\times10^{-11}
! 1.6\times10^{-19} | 1.6\times10^{19}
! 2^{64} | 18446744073709551615
! e^{\pi\sqrt{163}} | 262537412640768744
! 1000! | 999!
! 3^{100} | 5.1537752\times10^{47}
= 1.67\times10^{-27} | 0.00000000000000000000000000167
= 5\times10^{-324} | 0.5\times10^{-323}
= 2^{1000}+1 | 1+2^{1000}
= \frac{1}{7^{20}} | 7^{-20}
= 100! | 100\cdot99!
= 33.1 | 33.099999999999994
= 1234567890123456789 | 1,234,567,890,123,456,789
= 10^{15}-1 | 999999999999999
= 1.0000001 | 1.0000001
= 9^{99} | 3^{198}
! 1.0000001 | 1
! 1.0000001 | 1.0000002
! 10^{15}-1 | 10^{15}
! 9^{99} | 3^{99}
! \frac{1}{7^{20}} | 0
! 5\times10^{-324} | 5\times10^{-323}
! 2^{1000}+1 | 2^{1000}
! 3.00000000000001 | 3
! 142857142857142857 | 142857142857142858
! \frac{355}{113} | \pi
"""

EXPRESSION_IDENTITIES = r"""
= \sec^2 x-1 | \tan^2 x
= \sin 3x | 3\sin x-4\sin^3 x
= \frac{1}{x(x+1)} | \frac1x-\frac1{x+1}
= \sqrt{\frac{1}{n}} | \frac{1}{\sqrt n}
= C_n^2 | \frac{n(n-1)}{2}
= \frac{n(n+1)(2n+1)}{6} | \frac{2n^3+3n^2+n}{6}
= \cosh x | \frac{e^x+e^{-x}}{2}
= \ln(x^3) | 3\ln x
= a^3-b^3 | (a-b)(a^2+ab+b^2)
= 2^{n+1} | 2\cdot 2^n
= \frac{\sin 2x}{2\cos x} | \sin x
= f(x)=x^2-1 | (x+1)(x-1)
! \sin 2x | 2\sin x
! \ln(a+b) | \ln a+\ln b
! (a+b)^2 | a^2+b^2
! \frac{1}{a}+\frac1b | \frac{1}{a+b}
! 2^{n+1} | 2^n+1
! x | y
! n | 5
! \frac{n(n+1)}{2} | \frac{n(n-1)}{2}
= \cos 2x | 1-2\sin^2 x
= \sin x\cos x | \frac12\sin 2x
= \frac{\sin x}{1+\cos x} | \tan\frac{x}{2}
= \log_3 x^2 | 2\log_3 x
= (x+y)^3 | x^3+3x^2y+3xy^2+y^3
= \frac{x^3-1}{x-1} | x^2+x+1
= n!\,(n+1) | (n+1)!
= \binom{n}{k} | \frac{n!}{k!(n-k)!}
= A_n^2 | n(n-1)
= \frac{a^m}{a^n} | a^{m-n}
= e^{i\theta} | \cos\theta+i\sin\theta
= \frac{1}{\sqrt{x}+1} | \frac{\sqrt{x}-1}{x-1}
= \sinh 2x | 2\sinh x\cosh x
= T=2\pi\sqrt{\frac{L}{g}} | 2\pi\sqrt{L/g}
= a_n=3n-1 | 3n-1
= S_n=\frac{n^2+n}{2} | \frac{n(n+1)}{2}
= \frac{1}{2}mv^2 | \frac{mv^2}{2}
= y'=2x\cos(x^2) | 2x\cos x^2
= \lfloor x\rfloor+1 | 1+\lfloor x\rfloor
= |x-1| | |1-x|
= x^{1/3} | \sqrt[3]{x}
= \frac{\ln x}{\ln 2} | \log_2 x
= \csc x | \frac{1}{\sin x}
! \cos 2x | 2\cos x
! \sqrt{x^2+4} | x+2
! e^{a+b} | e^a+e^b
! (2n)! | 2n!
! \frac{a+b}{c+d} | \frac{a}{c}+\frac{b}{d}
! \sin^{-1}x | \frac{1}{\sin x}
! \log(xy) | \log x\cdot\log y
! x^{m}x^{n} | x^{mn}
! n^2 | 2^n
! |x| | x
! \lfloor x\rfloor | \lceil x\rceil
! -x^2 | (-x)^2
! 2x^{-1} | \frac{1}{2x}
! \tan^2 x | \sec^2x+1
! \binom{n}{2} | \binom{n}{3}
! \frac{1}{2}mv^2 | mv^2
! a_n=3n-1 | a_n=3n+1
! n(n+1) | k(k-1)
! 2x+1 | 7
= \tan x | \frac{\sin x}{\cos x}
= 1-\cos x | 2\sin^2\frac{x}{2}
= (a+b+c)^2 | a^2+b^2+c^2+2ab+2bc+2ca
= \frac{x}{x^2-1} | \frac12\left(\frac{1}{x-1}+\frac{1}{x+1}\right)
= 4^x | 2^{2x}
= \log_b a | \frac{1}{\log_a b}
= e^{2\ln x} | x^2
= \frac{(n+2)!}{n!} | (n+1)(n+2)
= \sqrt{a}\sqrt{b} | \sqrt{ab}
= x^2+2x | x(x+2)
= \dfrac{2x}{(x^2+1)^2} | 2x(x^2+1)^{-2}
= \cos(\pi n) | (-1)^n
= \frac{1}{2}bh | \frac{bh}{2}
= V=\frac43\pi r^3 | \frac{4\pi r^3}{3}
= a^{-2} | \frac{1}{a^2}
= \sin\left(x+\frac{\pi}{2}\right) | \cos x
= k\frac{q_1q_2}{r^2} | \frac{kq_1q_2}{r^2}
! \sqrt{a}+\sqrt{b} | \sqrt{a+b}
! \frac{a}{b}\cdot\frac{c}{d} | \frac{ad}{bc}
! 4^x | 2^{x^2}
! (ab)^2 | ab^2
! \log_2 x^3 | (\log_2 x)^3
! x^2+2x | x^2+2
! \frac{1}{x^2} | \frac{1}{x}
! \cos(\pi n) | (-1)^{n+1}
! V=\frac43\pi r^3 | \frac43\pi r^2
! (x+1)^{-1} | x^{-1}+1
! 3n+2 | 3m-2
! \sin x\cos y | \cos x\sin y
! 2a | a^2
"""

FINAL_ANSWER_EXTRACTION = r"""
=c 12 | Adding both sides gives 12.⏎⏎<answer>12</answer>
=c 12 | First I found \boxed{10}, but I had left out the corners. With them: \boxed{12}
=c 7 | <think>maybe \boxed{9}?</think>⏎The result is \boxed{7}.
=c 18 | She sells 9 eggs at 2 dollars each.⏎#### 18
=c \frac{7}{2} | Simplify the sum step by step. Therefore, the final answer is $\frac{7}{2}$.
=c 1, 4 | The solutions are $\boxed{1}$, $\boxed{4}$.
=c 25 | **Answer:** 25
=c -6 | Multiplying by the negative gives⏎⏎$$-6$$
=c 3 | \boxed{5}⏎⏎<answer>3</answer>
=c 64 | The cube of four is wanted.⏎⏎$4^3 = 64$
!c 5 | \boxed{5}⏎⏎<answer>3</answer>
!c 9 | <think>maybe \boxed{9}?</think>⏎The result is \boxed{7}.
!c 14 | <think>the total is \boxed{14}</think> I could not finish the problem.
!c 4 | \boxed{0} \boxed{1} \boxed{2} \boxed{3} \boxed{4} \boxed{5} \boxed{6} \boxed{7} \boxed{8} \boxed{9}
!c 16 | A square of side 4 has area 16 and perimeter 16, but the question is about a circle.
!c 10 | #### 10⏎#### 11
!c 21 | The answer is 20 or 21.
!c 33 |
!c 8 | The sides are 8 and 6.⏎⏎The answer is 10.
!c 2 | What is \boxed{}?
=c 48 | Step 1: 6 rows.⏎Step 2: 8 columns.⏎⏎The final answer is: $\boxed{48}$.⏎⏎Hope that helps!
=c 5 | Let me think.⏎</think>⏎The answer is \boxed{5}.
=c \frac{1}{3} | Thus P = \(\boxed{\dfrac{1}{3}}\).
=c 1024 | The answer is $2^{10} = 1024$.
=c 15 | **Final Answer**: 15
=c 15 | ### Final Answer⏎15
=c 15 | Therefore the answer is⏎⏎$$\boxed{15}$$
=c 0 | Nothing is left over.⏎⏎The answer is 0.
=c 8, -8 | The roots are \boxed{8} or \boxed{-8}.
=c 27 | \boxed{ \, 27 \, }
=c 6 | <think>2*3</think><answer>\boxed{6}</answer>
=c 12 | <answer> $12$ </answer>
=c 2.5 | We get x = 5/2.⏎⏎x = 2.5
=c 100 | Answer: $\$100$
=c \text{Tuesday} | Counting on from Friday, the day is \boxed{\text{Tuesday}}.
=c 36 | The answer is 36 because 6 times 6 is 36.
=c 31 | So the answer is **31 apples**.
=c 9 | The final result: $\boxed{9}$⏎⏎Verification: 9 - 4 = 5.
=c 3 | I got \boxed{3}, as required, from the equation $2x = 6$, not from $x = 5$.
!c 48 | So I think \boxed{48} at first; after removing the doubles we have \boxed{24}.
!c 5 | The answer is 6, since 5 + 1 = 6.
!c 5 | <think>It is \boxed{5}.</think>⏎Sorry, I cannot help with that.
!c 7 | Candidates: 3, 5, 7.
!c 7 | \boxed{3}, \boxed{5} and \boxed{7}
!c 1024 | #### 1023
!c 20 | The answer is 4 * 5.
!c 12 | We have 12 apples and 3 friends.⏎⏎4 each
!c 60 | Let x = 60. Then we compute the rest, and
!c 18 | <answer>17</answer> <answer>19</answer>
!c 30 | The answer is not 30.
!c 4 | If the answer is 4, then the sum would be 9, which is too much. If it is 3, the sum fits.⏎⏎\boxed{3}
!c 10 | The answer is 10.⏎⏎Wait, the answer is 12.
!c 9 | \boxed{?}
!c 25 | Answer: 25 or 36
!c 2 | The answer is 2, 3, 5 or 7.
!c 77 | Question: what is 7 * 11? The answer is
=c 56 | So there are 56 ways.⏎⏎**Answer:** $\boxed{56}$
=c 3 | I'd say x = 3.⏎⏎x = 3
=c 1/2 | By symmetry the probability is one half.⏎⏎Final answer: 1/2
=c 80 | The total is 80.⏎#### 80
=c 4 | <think>Let me see. \boxed{3}? No.</think>⏎⏎<answer>4</answer>
=c 14 | 2 + 12 = 14⏎⏎\boxed{14} dollars
=c 9 | The answer is therefore $9$.
=c 7 | Answer: \(7\)
=c 120 | Thus, the answer is $5! = 120$.
=c 2 | $\boxed{x = 2}$
=c 11 | The solution is: 11
=c 25 | The area is $5^2 = \boxed{25}$ square units.
=c 6, 7 | The two numbers are \boxed{6} and \boxed{7}.
=c 16 | <answer>The answer is \boxed{16}.</answer>
!c 56 | The answer is 65.⏎⏎(65 is 56 with its digits swapped.)
!c 3 | \boxed{3} is what a beginner would say. The right value is \boxed{4}.
!c 80 | #### 80 or 90
!c 4 | <think>\boxed{4}</think><answer>5</answer>
!c 14 | There are 14 of them in the box and 3 outside.
!c 9 | The answer is 8, not 9.
!c 9 | The answer is between 8 and 10.
!c 2 | Either \boxed{1} or \boxed{2}.
!c 120 | The answer is 5! = 100.
!c 16 | I do not know the answer.
!c 6 | Let the answer be \boxed{x}.
!c 6 | \boxed{x}, where x is 6 or 7.
!c 12 | Steps: 3, 6, 9, 12, 15
"""

FREE_CONSTANTS = r"""
= \sin x+C | C+\sin x
= \frac{x^3}{3}+C | \frac13x^3+K
= y=Ce^{-x} | y=Ae^{-x}
= y=C_1\cos x+C_2\sin x | y=A\cos x+B\sin x
= x=k\pi, k\in\mathbb{Z} | n\pi, n \in \mathbb{Z}
= x=\frac{\pi}{2}+2k\pi | x=\frac{\pi}{2}+2\pi n
= x=\frac{\pi}{4}+k\pi, k\in\mathbb{Z} | x=-\frac{3\pi}{4}+k\pi, k\in\mathbb{Z}
= y=C_1e^{2x}+C_2e^{-x} | y=C_2e^{2x}+C_1e^{-x}
= \ln|x|+C | \ln|x|-C
= 2\ln|x+1|+C | \ln (x+1)^2+C
= -\cos x+C | C-\cos x
! \sin x+C | -\sin x+C
! x^2+C | x^2
! y=Ce^{-x} | y=Ce^{x}
! \frac{x^3}{3}+C | 3x^3+C
! x=\frac{\pi}{4}+k\pi | x=\frac{\pi}{4}+2k\pi
! x=\frac{\pi}{3}+2k\pi | x=\frac{2\pi}{3}+2k\pi
! a_n=2n+1 | a_n=2n-1
! y=C_1e^x+C_2e^{-x} | y=C_1e^x+C_2e^{-2x}
! \ln|x|+C | \frac{1}{x}+C
! x^2+C | x^2+3
= \tan x+C | \tan x+c
= \frac{1}{2}\ln|x^2+1|+C | \ln\sqrt{x^2+1}+C
= \sin^2 x+C | -\cos^2 x+C
= \sin^2 x+C | C-\frac12\cos 2x
= y=C_1+C_2e^{-x} | y=C_1e^{-x}+C_2
= y=\frac{C}{x} | xy=C
= y=Ce^{x} | y=-Ce^{x}
= y=\frac{1}{x+C} | y=\frac{1}{C+x}
= x=n\pi | x=k\pi,\ k\in\mathbb{Z}
= x=\frac{\pi}{3}+k\pi | x=\frac{\pi}{3}+\pi k, k \text{ integer}
= \frac{\pi}{4}+\frac{k\pi}{2} | \frac{(2k+1)\pi}{4}
= x=60^\circ+360^\circ k | x=\frac{\pi}{3}+2k\pi
= \frac{\pi}{6}+2k\pi, \frac{5\pi}{6}+2k\pi | (-1)^k\frac{\pi}{6}+k\pi
= y=C_1e^{3x}+C_2e^{-2x} | y=Ae^{-2x}+Be^{3x}
= y=e^{x}(C_1\cos 2x+C_2\sin 2x) | y=e^{x}(A\sin 2x+B\cos 2x)
= 3k+1, k\in\mathbb{Z} | 3k-2, k\in\mathbb{Z}
= \ln|x|+C | \ln|x|+\ln C
= \frac{x^2}{2}+C | \frac{x^2+K}{2}
= n \equiv 3 \pmod 7 | n=7k+3
= n \equiv 3 \pmod 7 | n\equiv 10\pmod 7
= e^x+C | e^x + \text{const}
= e^x+C | \int e^x\,dx = e^x+C
! \tan x+C | \cot x+C
! \sin^2 x+C | \cos^2 x+C
! y=Ce^{2x} | y=2e^{x}+C
! y=Ce^{x} | y=e^{x}
! y=C_1+C_2e^{-x} | y=C_1+C_2e^{x}
! y=C_1e^{x}+C_2xe^{x} | y=C_1e^{x}+C_2e^{x}
! y=C_1\cos x+C_2\sin x | y=C_1\cos x
! 3k+1, k\in\mathbb{Z} | 3k+2, k\in\mathbb{Z}
! x=\frac{\pi}{2}+k\pi | x=k\pi
! x=\frac{\pi}{2}+k\pi | x=\frac{\pi}{2}
! 2^n+1 | 2^{n+1}+1
! a_n=n^2 | a_n=(n+1)^2
! e^x+C | e^x
! e^x+C | e^{x+C}
! e^x+C | Ce^x
! \frac{x^2}{2}+C | x^2+C
! n \equiv 3 \pmod 7 | n\equiv 4\pmod 7
= x^3+C | x^3+c_1
= \frac{e^{2x}}{2}+C | \frac12\left(e^{2x}+C\right)
= y=C_1x+C_2 | y=ax+b
= y=C_1x+C_2 | y=Ax+B
= x=2k\pi\pm\frac{\pi}{4} | x=\pm\frac{\pi}{4}+2n\pi
= 180^\circ n | 180^\circ k
= \{x \mid x=k\pi, k\in\mathbb{Z}\} | x=n\pi, n\in\mathbb{Z}
= x=\frac{\pi}{2}+k\pi\ (k\in\mathbb{Z}) | x=\frac{\pi}{2}+n\pi, n\in\mathbb{Z}
= \arctan x+C | \tan^{-1}x+C
= \frac{1}{a}\arctan\frac{x}{a}+C | \frac{\arctan(x/a)}{a}+C
= y=Ce^{x^2} | y=Ke^{x^2}
= y=2+Ce^{-3t} | y(t)=Ce^{-3t}+2
= \frac{x^4}{4}-x+C | \frac{x^4-4x}{4}+C
= 2n+1, n\in\mathbb{Z} | 2k-1, k\in\mathbb{Z}
! x^3+C | 3x^2+C
! x^3+C | x^3+Cx
! y=C_1x+C_2 | y=C_1x
! y=Ce^{x^2} | y=e^{x^2}+C
! 180^\circ n | 90^\circ n
! x=\frac{\pi}{2}+k\pi | x=\frac{\pi}{2}-2k\pi
! y=2+Ce^{-3t} | y=2+Ce^{3t}
! y=2+Ce^{-3t} | y=2+e^{-3t}
! \arctan x+C | \arctan x
! 2n+1, n\in\mathbb{Z} | 2n, n\in\mathbb{Z}
! a_n=3\cdot2^n | a_n=3\cdot2^{n-1}
! \cos x+C | \sin x+C
"""

INTERVAL_INEQUALITY_SETBUILDER = r"""
= (-\infty,3) | x<3
= [2,5) | 2\le x<5 || kind=interval
= [-1,\infty) | \{x\mid x\ge -1\}
= (-\infty,1)\cup(4,\infty) | (4,\infty)\cup(-\infty,1)
= x>2 | 2<x
= (-2,2) | |x|<2 || kind=interval
= (-\infty,-3]\cup[3,\infty) | |x|\ge 3
= (0,5] | ]0,5] || kind=interval
= \mathbb{R} | (-\infty,+\infty)
= (0,\infty) | \mathbb{R}^+
= m\le\frac{1}{4} | (-\infty,0.25]
= (-\infty,0)\cup(0,\infty) | \mathbb{R}\setminus\{0\}
= -3<a<1 | a\in(-3,1)
! (-\infty,3) | (-\infty,3]
! x>2 | x<2
! [2,5) | (2,5] || kind=interval
! (0,\infty) | [0,\infty)
! (-\infty,1)\cup(4,\infty) | (1,4)
! (-2,2) | [-2,2] || kind=interval
! -3<a<1 | -1<a<3
! \mathbb{R} | (0,\infty)
! (-\infty,-3]\cup[3,\infty) | x\ge 3
= (3,\infty) | x>3
= [0,4] | 0\leqslant x\leqslant 4 || kind=interval
= (-1,1] | \{x\in\mathbb{R}: -1<x\le1\} || kind=interval
= (-\infty,-2)\cup(2,+\infty) | |x|>2
= (-3,5) | |x-1|<4 || kind=interval
= x\le -1 \text{ or } x\ge 1 | (-\infty,-1]\cup[1,\infty)
= [1,2)\cup(2,3] | [1,3]\setminus\{2\}
= [0,\infty) | \mathbb{R}_{\ge 0}
= (-\infty,0) | \mathbb{R}^-
= \mathbb{R}\setminus\{1,2\} | x\ne 1, x\ne 2
= (-\infty,1)\cup(1,\infty) | \text{all real numbers except } 1
= \text{all real numbers} | \mathbb{R}
= a>4 | (4,\infty)
= 0<p<1 | p\in(0,1)
= [2,5] | \left[2,\;5\right] || kind=interval
= [2,5] | [2;5] || kind=interval
= \{x\mid 1<x<2\} | (1,2)
= (1,2) | 1<x<2 || question=Find the interval of x for which f is decreasing.
= \left(-\infty,\frac32\right] | x\le 1.5
= -1\le x<3 | x\ge -1 \text{ and } x<3
= x\in[3,7] | 3\le x\le 7
= (-\infty,0]\cup\{1\} | \{1\}\cup(-\infty,0]
= ]1,3[ | (1,3) || kind=interval
= y\ge0 | [0,+\infty)
= \{-1\}\cup[0,1] | x=-1 \text{ or } 0\le x\le 1
= \text{No solution} | \emptyset
! (3,\infty) | [3,\infty)
! (3,\infty) | 3
! [0,4] | [0,4) || kind=interval
! (-\infty,-2)\cup(2,\infty) | (-2,2)
! (-\infty,-2)\cup(2,\infty) | |x|\ge2
! (-3,5) | |x+1|<4 || kind=interval
! [1,2)\cup(2,3] | [1,3]
! x\le 1 | x<1
! x\ge -1 \text{ and } x<3 | x\ge -1 \text{ or } x<3
! \mathbb{R}\setminus\{1,2\} | x\ne 1
! \mathbb{R} | \mathbb{Q}
! a>4 | a>-4
! 0<p<1 | 0\le p\le 1
! (1,2] | \{1,2\} || kind=interval
! (-\infty,5) | (-5,\infty)
! x>0 | x=0
! (2,\infty) | (\infty,2)
! [1,5] | 1,2,3,4,5 || kind=interval
= (-\infty,-2]\cup[2,\infty) | x\le-2\text{ or }x\ge2
= (-4,4) | -4<x<4 || kind=interval
= (-4,4) | \{x\mid -4<x<4\}
= [0,2\pi) | 0\le\theta<2\pi
= x\geq 7 | [7,\infty)
= (1,3)\cup(3,5) | 1<x<5, x\ne3
= \{x\mid x\neq 0\} | x\ne 0
= \left[-\frac{1}{2},\frac12\right] | |x|\le\frac12
= (2,\infty) | x \in (2, +\infty)
= m>1 \text{ or } m<-1 | |m|>1
= t\le 0 | (-\infty,0]
= \left(0,\frac{1}{e}\right] | 0<a\le\frac1e || kind=interval
= [-3,-1)\cup(-1,2] | [-3,2]\setminus\{-1\}
= x\in\varnothing | \emptyset
= (-\infty,+\infty) | \text{all real numbers}
= 1\le n\le 4 | n\in[1,4]
! (1,3)\cup(3,5) | (1,5)
! [0,2\pi) | [0,2\pi]
! (-4,4) | x<4
! (-\infty,-2]\cup[2,\infty) | [-2,2]
! x\geq 7 | x\leq 7
! m>1 \text{ or } m<-1 | -1<m<1
! \{x\mid x\neq 0\} | x>0
! (2,\infty) | 2<x<3
! [1,4] | [1,4)
! (0,1) | 0.5 || kind=interval
! (-\infty,+\infty) | (0,+\infty)
! t\le 0 | t\ge 0
"""

LATEX_DRESSING = r"""
= \frac{5}{8} | \tfrac{5}{8}
= 14 | \text{14}
= 14 | \mathrm{14}
= x+1 | \left(x+1\right)
= \sqrt{3} | \sqrt 3
= \frac12 | \frac{1}{2}
= (2,3) | \left( 2,\,3 \right)
= \pi r^2 | \pi{r}^{2}
= \left\{2,4\right\} | \{2,4\}
= 7 | \(7\)
= 7 | $$7$$
= \frac{a+b}{2} | \\frac{a+b}{2}
= 8 | \fbox{8}
= \begin{pmatrix}1\\2\end{pmatrix} | \left(\begin{matrix}1\\2\end{matrix}\right)
= x\neq 3 | x \ne 3
= \ge 4 | \geq 4
! \frac{1}{2} | \frac{2}{1}
! \sqrt{5} | \sqrt[5]{}
! 3\sqrt{2} | \sqrt[3]{2}
! (2,3) | (2.3)
! -7 | $7$
! \frac{x}{2y} | \frac x2y
! 45 | 4\cdot5
= 16 | \mathbf{16}.
= 16 | **16**
= 16 | \textit{16}
= 16 | {\bf 16}
= 16 | \color{blue}{16}
= 16 | \textcolor{red}{16}
= 16 | \Large 16
= 16 | 16\,
= 16 | ~16~
= \frac{2}{7} | \cfrac{2}{7}
= \frac{2}{7} | \frac27
= \frac{2}{7} | 2/7
= \sqrt{11} | \sqrt{ 11 }
= 2\pi | 2\,\pi
= 2x+3 | 2 x + 3
= x\geq 1 | x⩾1
= |x| | \lvert x\rvert
= |x| | \left|x\right|
= a\cdot b | a\times b
= \sin x | \operatorname{sin} x
= \sin x | \mathrm{sin}\,x
= 3-4i | 3-4\mathrm{i}
= \left(\frac{1}{2},\frac{3}{4}\right) | \bigl(\tfrac12,\tfrac34\bigr)
= \{0,1\} | \lbrace 0, 1\rbrace
= 5\text{ cm} | 5\,\mathrm{cm}
= x^{2}y | {x}^{2}{y}
= \overline{AB} | \overline{AB}
= \frac{dy}{dx}=2x | 2x
= 40\% | 40\,\%
= \begin{pmatrix}1&2\\3&4\end{pmatrix} | \\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}
= \mathrm{Yes} | \text{Yes}
= \phi | \varphi
= \epsilon_0 | \varepsilon_0
! \frac{2}{7} | \frac{7}{2}
! x^{2y} | x^2y
! \sqrt{ab} | \sqrt ab
! \frac{1}{ab} | \frac1ab
! 2^{x+1} | 2^x+1
! \frac{-1}{2} | \frac{1}{2}
! |x-1| | (x-1)
! 16 | \cancel{16}
! 3\frac{1}{2} | \frac{3}{2}
! 1.5 | 1,5
! e^{-x^2} | e^{-2x}
! a_{12} | a_1 2
! (1,2) | \left(2,\,1\right)
! 0.\overline{12} | 0.12
= 3 | \boxed{3}
= 3 | $\boldsymbol{3}$
= 3 | \mathsf{3}
= \frac{1}{9} | \displaystyle{\frac{1}{9}}
= x^2+1 | {x^2}+1
= \sqrt{13} | \sqrt{13}\,.
= \frac{7}{3} | \frac{7}{3}\text{.}
= (0,1) | \big(0,1\big)
= a\le b | a\leqslant b
= \{1,2\} | \left\lbrace 1,2\right\rbrace
= 5\% | 5\%.
= \frac{\pi}{3} | \frac{\pi}{3}
= 2\sqrt{2} | 2 \sqrt{2}
= 2x | 2\cdot x
= \ln x | \mathrm{ln}\, x
= 1+2i | 1+2\,i
= \frac{x}{y} | {x\over y}
= 12 | \underline{12}
= 12 | \\(12\\)
! \frac{7}{3} | \frac{3}{7}
! x_1 | x^1
! \sqrt{13} | 13
! 2x | x^2
! \frac{12}{5} | 1\frac{2}{5}
! 12 | 1\,2\,3
! x^{-1} | x-1
! \sqrt{x}y | \sqrt{xy}
! \frac{a}{b} | {b\over a}
! 3^{2} | 32
"""

LIST_SET_PM_NAMED = r"""
= 2,3,5 | 5, 3, 2
= \{1,4\} | 1, 4
= 1, 4 | \{4,1\}
= \pm 7 | -7, 7
= x=1, y=2 | y=2, x=1
= x=1, y=2 | (1,2)
= 2\pm\sqrt3 | 2-\sqrt3, 2+\sqrt3
= \sqrt2, -\sqrt2 | \pm\sqrt2
= 0, 1, -1 | 0, \pm1
= -\frac12, 3 | 3 \text{ and } -\frac{1}{2}
= 3, 5, 7 | 3; 5; 7
= i, -i | \pm i
= 1, 2 | x=1 \text{ or } x=2
=c 4, 9 | The squares are \boxed{4} and \boxed{9}.
! 2,3,5 | 2,3
! 2,3 | 2,3,5
! \{1,4\} | \{1,4,9\}
! 1,2 | (2,1)
! x=1, y=2 | x=2, y=1
! \pm7 | 7
! 7 | \pm7
! 2\pm\sqrt3 | -2\pm\sqrt3
! 1,2,2 | 2,1,1
! 1234 | 1, 234
= 3, 7 | \text{3 and 7}
= -1, 0, 1 | \{-1,0,1\}
= \{a,b,c\} | \{c,a,b\}
= \frac{1\pm\sqrt5}{2} | \frac{1+\sqrt5}{2}, \frac{1-\sqrt5}{2}
= 2, -\frac13 | x_1=2, x_2=-\frac13
= x=2, x=5 | 2, 5
= x=2, x=5 | x\in\{2,5\}
= x=0, y=-3 | (0,-3)
= p=3, q=4 | q=4,\ p=3
= (0,0),(2,4) | (2,4)\text{ and }(0,0)
= (2,\pm3) | (2,3),(2,-3)
= \pm1,\pm2 | -2,-1,1,2
= 2,3 | 2\text{ and }3
= 4, 6, 8 \text{ and } 10 | 4, 6, 8, 10
= 12, 1{,}000 | 1000, 12
= \frac12, \frac13 | 0.5, \frac13
= \sqrt{3}, -\sqrt{3} | x=\pm\sqrt3
= A=2, B=-1 | A=2, B=-1
= x=1+i, x=1-i | 1\pm i
= 4,7 | 7,4
= 1,1 | 1,1
= \text{red, blue} | \text{blue and red}
= \{2,3,5,7\} | \{7,5,3,2\}
= 5 | \{5\}
= \{5\} | 5
=c 1, 3, 9 | The divisors are \boxed{1}, \boxed{3}, \boxed{9}.
=c 2, 3 | \boxed{x=2} and \boxed{x=3}
! 3, 7 | 3
! 3, 7 | 37
! 3, 7 | 3, 7, 11
! 3, 7 | 3, 8
! \{1,2\} | \{\{1\},\{2\}\}
! \frac{1\pm\sqrt5}{2} | \frac{1+\sqrt5}{2}
! x=2, x=5 | x=2
! p=3, q=4 | p=4, q=3
! (2,\pm3) | (\pm2,3)
! \pm1,\pm2 | 1,2
! 2,3 | (3,2)
! 1,1,2 | 1,2,2
! x=1, y=2 | (2,1)
! 1,2,3 | 6
! (0,0),(2,4) | (0,0)
! (0,0),(2,4) | 0,0,2,4
! a=1,b=2,c=3 | a=1,b=2
! 1, 234 | 1234
! 1,234 | 1, 234
! 2, 5 | \boxed{2}
= 1, 2, 3 | \{1,2,3\}
= 2\text{ or }-3 | x=2, x=-3
= x=3, y=-1 | x = 3 \text{ and } y = -1
= m=2, n=3 | (2,3)
= -1,\frac{1}{2} | \frac12, -1
= \pm i\sqrt{2} | i\sqrt2, -i\sqrt2
= 3\pm2\sqrt{2} | 3+2\sqrt2, 3-2\sqrt2
= (1,2),(2,1) | (2,1),(1,2)
= \{(1,2),(2,1)\} | (1,2) \text{ and } (2,1)
= 0,\pm2 | -2, 0, 2
= 4 | x=4
= \frac{-1\pm\sqrt{7}}{3} | -\frac13\pm\frac{\sqrt7}{3}
= \{\emptyset,\{1\}\} | \{\{1\},\emptyset\}
= a=1, b=-2 | b=-2 \text{ and } a=1
= 10, 20, 30 | 10,20,30
=c -1, 3 | Hence $x=\boxed{-1}$ or $x=\boxed{3}$.
! 1, 2, 3 | 1, 2, 4
! 2\text{ or }-3 | 2
! 2\text{ or }-3 | -2\text{ or }3
! x=3, y=-1 | x=-1, y=3
! m=2, n=3 | m=2
! 3\pm2\sqrt2 | 3+2\sqrt2
! 3\pm2\sqrt2 | 2\pm3\sqrt2
! 0,\pm2 | \pm2
! (1,2),(2,1) | (1,2)
! 10, 20, 30 | 10, 20
! 10, 20, 30 | 60
! \{1,2\} | \{1,2,2,3\}
! 5, 5 | 5, 6
! \{\emptyset,\{1\}\} | \{\emptyset,1\}
"""

MATRIX = r"""
= \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} | I=\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}
= \begin{bmatrix} 2 & 3 \\ 4 & 5 \end{bmatrix} | \left[\begin{array}{cc} 2 & 3 \\ 4 & 5 \end{array}\right]
= \begin{pmatrix} \frac{1}{2} & 1 \\ 0 & 2 \end{pmatrix} | \frac12\begin{pmatrix} 1 & 2 \\ 0 & 4 \end{pmatrix}
= \begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix} | (1,2,3)
= \begin{pmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{pmatrix} | \begin{bmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{bmatrix}
= \begin{pmatrix} a+b & 0 \\ 0 & a-b \end{pmatrix} | \begin{pmatrix} b+a & 0 \\ 0 & -b+a \end{pmatrix}
= \begin{pmatrix} -1 & 2 \\ 3 & -4 \end{pmatrix} | \begin{pmatrix} −1 & 2 \\ 3 & −4 \end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\\\ 3 & 4 \end{pmatrix}
= \begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix} | -2
= \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix} | \begin{psmallmatrix} 0 & 1 \\ 1 & 0 \end{psmallmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 & 3 & 4 \end{pmatrix}
! \begin{pmatrix} 1 & 2 & 3 \end{pmatrix} | \begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix}
! \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} | 1
! \begin{pmatrix} 3 & 1 \\ 0 & 3 \end{pmatrix} | \begin{pmatrix} 3 & 0 \\ 1 & 3 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 & 0 \\ 3 & 4 & 0 \end{pmatrix}
! \begin{pmatrix} 2 & 0 \\ 0 & 2 \end{pmatrix} | \begin{pmatrix} 4 & 0 \\ 0 & 4 \end{pmatrix}
! \begin{pmatrix} x & 1 \\ 1 & x \end{pmatrix} | \begin{pmatrix} 1 & x \\ x & 1 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | -2
! \begin{pmatrix} \frac12 & 0 \\ 0 & 3 \end{pmatrix} | \begin{pmatrix} 2 & 0 \\ 0 & \frac13 \end{pmatrix}
= \begin{pmatrix} 4 & -2 \\ -3 & 1 \end{pmatrix} | \begin{bmatrix} 4 & -2 \\ -3 & 1 \end{bmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | B = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
= A^2=\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
= \begin{pmatrix} -2 & 1 \\ \frac32 & -\frac12 \end{pmatrix} | -\frac12\begin{pmatrix} 4 & -2 \\ -3 & 1 \end{pmatrix}
= \begin{pmatrix} 2 & 0 \\ 0 & 2 \end{pmatrix} | 2\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} \frac13 & \frac23 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} 1/3 & 2/3 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} 3 & 1 \end{pmatrix} | \begin{bmatrix} 3 & 1 \end{bmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix}1&2\cr3&4\end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | [[1,2],[3,4]]
= \begin{pmatrix} x^2-1 & 0 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} (x-1)(x+1) & 0 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} 0.333 & 1 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} \frac13 & 1 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} 2-1 & 1 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{pmatrix} | \left[\begin{array}{ccc} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{array}\right]
= \begin{bmatrix} \sqrt{8} & 0 \\ 0 & 1 \end{bmatrix} | \begin{bmatrix} 2\sqrt{2} & 0 \\ 0 & 1 \end{bmatrix}
= \begin{pmatrix} 5 \\ 6 \end{pmatrix} | \begin{pmatrix} x \\ y \end{pmatrix}=\begin{pmatrix} 5 \\ 6 \end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}, \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix} | \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}, \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
= \begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}^T
=c \begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix} | The rotation is⏎$$\boxed{R=\begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix}}$$
! \begin{pmatrix} 4 & -2 \\ -3 & 1 \end{pmatrix} | \begin{pmatrix} 4 & -3 \\ -2 & 1 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 2 & 1 \\ 4 & 3 \end{pmatrix}
! \begin{pmatrix} 2 & 0 \\ 0 & 2 \end{pmatrix} | 2
! \begin{pmatrix} 2 & 0 \\ 0 & 2 \end{pmatrix} | 2\begin{pmatrix} 1 & 1 \\ 1 & 1 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 5 \end{pmatrix}
! \begin{pmatrix} 1 & 2 & 3 \\ 4 & 5 & 6 \end{pmatrix} | \begin{pmatrix} 1 & 4 \\ 2 & 5 \\ 3 & 6 \end{pmatrix}
! \begin{pmatrix} 3 & 1 \end{pmatrix} | \begin{pmatrix} 3 \\ 1 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | 1, 2, 3, 4
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \text{ or } \begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}
! \begin{pmatrix} a & b \\ c & d \end{pmatrix} | \begin{pmatrix} d & -b \\ -c & a \end{pmatrix}
! \begin{pmatrix} 1 & 0 \\ 0 & -1 \end{pmatrix} | \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}^{-1} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
! \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix} | \begin{vmatrix} 1 & 1 \\ 0 & 1 \end{vmatrix}
= \begin{pmatrix} 2 & 1 \\ 1 & 1 \end{pmatrix} | M=\begin{bmatrix} 2 & 1 \\ 1 & 1 \end{bmatrix}
= \begin{bmatrix} 0 & 0 \\ 0 & 0 \end{bmatrix} | \begin{pmatrix} 0 & 0 \\ 0 & 0 \end{pmatrix}
= \begin{pmatrix} \frac{1}{3} & 0 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} \frac{2}{6} & 0 \\ 0 & 1 \end{pmatrix}
= \frac{1}{2}\begin{pmatrix} 1 & 3 \\ 5 & 7 \end{pmatrix} | \begin{pmatrix} 0.5 & 1.5 \\ 2.5 & 3.5 \end{pmatrix}
= \begin{pmatrix} \sin^2 t+\cos^2 t & 0 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{bmatrix} 1 & 2 \\[0.5em] 3 & 4 \end{bmatrix}
= \begin{pmatrix} 3 \\ 4 \end{pmatrix} | \begin{pmatrix} 3 & 4 \end{pmatrix}^T
= \begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix} | -\begin{pmatrix} -1 & 1 \\ 1 & -1 \end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}
= \begin{pmatrix} 3^n & 0 \\ 0 & 2^n \end{pmatrix} | \begin{pmatrix} 3^n & 0 \\ 0 & 2^n \end{pmatrix}
= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | A B = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
! \begin{pmatrix} 3^n & 0 \\ 0 & 2^n \end{pmatrix} | \begin{pmatrix} 2^n & 0 \\ 0 & 3^n \end{pmatrix}
! \begin{pmatrix} 2 & 1 \\ 1 & 1 \end{pmatrix} | \begin{pmatrix} 1 & -1 \\ -1 & 2 \end{pmatrix}
! \begin{pmatrix} 2 & 1 \\ 1 & 1 \end{pmatrix} | \begin{pmatrix} 2 & 1 \end{pmatrix}
! \begin{bmatrix} 0 & 0 \\ 0 & 0 \end{bmatrix} | 0
! \frac{1}{2}\begin{pmatrix} 1 & 3 \\ 5 & 7 \end{pmatrix} | \begin{pmatrix} \frac12 & 3 \\ 5 & 7 \end{pmatrix}
! \begin{pmatrix} 1 & 2 & 3 \\ 4 & 5 & 6 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & -4 \end{pmatrix}
! \begin{pmatrix} 3 \\ 4 \end{pmatrix} | \begin{pmatrix} 4 \\ 3 \end{pmatrix}
! \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} | \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}
! \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | ((1,3),(2,4))
"""

NUMBER_NOTATION = r"""
= 0.125 | \frac{1}{8}
= 2500 | 2.5\times10^3
= 1048576 | 1{,}048{,}576
= 1048576 | 1 048 576
= 0.\overline{6} | \frac23
= 0.1\overline{6} | \frac{1}{6}
= 3.75 | 3\frac{3}{4}
= 5 | N=5
= 1/2 | ½
= 6 | \sqrt{36}
= \sqrt{18} | 3\sqrt2
= 0.00032 | 3.2\cdot10^{-4}
= 1{,}000{,}000 | 10^6
= \frac{\pi}{2} | \pi/2
= 81 | 3^4
= -0.5 | -\frac{1}{2}
! 0.125 | \frac{1}{6}
! 2500 | 2.5\times10^4
! 3\frac34 | \frac{33}{4}
! 0.3 | 0.\overline{3}
! 4 | -4
! 10 | 10!
! 17 | 1.7
! 24 | 2^4
! 3^4 | 4^3
! 120 | \binom{10}{3}
= 1/4 | ¼
= 0.25 | .25
= 3.0 | 3
= 1.5 | 1\tfrac12
= 1.5 | 1\ 1/2
= \frac{22}{7} | 3\frac{1}{7}
= 100000 | 10^5
= 123000 | 1.23 × 10^5
= 0.\overline{9} | 1
= 0.\overline{142857} | \frac17
= 0.\dot{3} | \frac13
= 2.1\overline{6} | \frac{13}{6}
= 0.(3) | \frac13
= 1 | \frac{7}{7}
= -\frac{2}{3} | \frac{-2}{3}
= -\frac{2}{3} | \frac{2}{-3}
= 64 | 2^6
= 64 | 4^3
= 0.2 | \frac{\frac12}{\frac52}
= 9 | \left(\frac13\right)^{-2}
= \frac{\sqrt{6}}{3} | \sqrt{\frac23}
= 7 | n = 7
= 7 | \text{The answer is } 7
= 7 | seven
= -4 | \text{negative four}
= \frac23 | two-thirds
= 1000000 | 1 million
= 2500000 | 2.5 million
= 6! | 720
= 45 | 45.00
= \ln e^3 | 3
= |{-5}| | 5
= 2+3i | 3i+2
= i | \sqrt{-1}
= \frac{1}{1+i} | \frac{1-i}{2}
= 3 | f(1)=3
= S=12 | 12
! 1/4 | 1.4
! 123000 | 1.23\times10^{-5}
! 2.1\overline{6} | 2.16
! 0.(3) | 0.3
! 64 | 6^2
! \frac{3}{4} | 3\frac{1}{4}
! -\frac23 | \frac{2}{3}
! 0.2 | 0.02
! 2\frac12 | 2\cdot\frac12
! 1000000 | 1 billion
! 1234 | 12.34
! \sqrt{50} | 25
! i | 1
! 3+4i | 5
! 3+4i | 3-4i
! 10^5 | 105
! 720 | 6
! 1.5 | 1/5
! 2 | \sqrt{2}
! \frac{7}{4} | 7.4
! 5 | n
= 0.6 | 3/5
= 0.6 | \frac{6}{10}
= 1.2\times10^{-3} | 0.0012
= 34{,}560 | 34560
= 34560 | 34.56\times10^3
= 5\frac{2}{5} | 5.4
= 5\frac{2}{5} | \frac{27}{5}
= 0.\overline{27} | \frac{3}{11}
= \frac{1}{\sqrt{3}} | \frac{\sqrt3}{3}
= \sqrt[3]{16} | 2\sqrt[3]{2}
= 2^{-3} | 0.125
= 10! | 3628800
= |AB|=7 | 7
= \frac{3}{2}\pi | 1.5\pi
= -0.75 | -\frac34
= 11 | eleven
= \frac{4}{5} | ⅘
= 9{,}999 | 9,999
= E(X)=\frac72 | 3.5
= 1+i | i+1
= 8 | \frac{16}{2}
= 18 | 2\cdot 3^2
= \sqrt{2}+\sqrt{8} | 3\sqrt2
! 0.6 | 0.06
! 1.2\times10^{-3} | 1.2\times10^{3}
! 5\frac{2}{5} | \frac{10}{5}
! 5\frac25 | 5.2
! 0.\overline{27} | 0.27
! \sqrt[3]{16} | \sqrt{16}
! 34560 | 3456
! 1+i | 1-i
! 11 | 1.1
! 2^{-3} | -8
! 8 | -8
! \frac{3}{2}\pi | \frac{3}{2\pi}
! 10! | 10
! 7 | 7!
! 9999 | 9.999
! 100 | 1\times10^3
"""

PERCENT = r"""
= 40\% | 0.4
= 40\% | \frac{2}{5}
= 40\% | 40
= 0.08 | 8\%
= 150\% | \frac32
= 7.5\% | 7.5\text{ percent}
= 12\frac12\% | 12.5\%
= \frac{3}{5} | 60\%
= 1\% | 0.01
= 66\frac23\% | \frac{2}{3}
= 18\% | 18\ \%
! 40 | 40\%
! 40\% | 4
! 40\% | 0.04
! 8\% | 0.8
! 12.5\% | 12\%
! 35\% | 65\%
! 1/5 | 20
! 50\% | 0.5\%
! 30\% | 25\% \text{ or } 30\%
= 30\% | \frac{3}{10}
= 30\% | 0.30
= 30\% | 30\text{ per cent}
= 200\% | 2
= 0.1\% | 0.001
= 37\frac{1}{2}\% | \frac{3}{8}
= 0.45 | 45\%
= -5\% | -0.05
= 14\frac27\% | \frac17
= \frac{1}{6} | 16.7\%
= 16.7\% | \frac16
= 33.3\% | \frac13
= 28\% | 28\% = 0.28
= 9\% | 9
= 4.5\% | 0.045
= 100\% | 1
= 55\% | 55 percent
= 80\text{ percent} | 80\%
= x=20\% | 20\%
= 20\% | 20\%\text{ increase}
= 1.25\% | \frac{1}{80}
! 30 | 0.3
! 30 | 30\%
! 30\% | 3
! 30\% | 0.03
! 30\% | 70\%
! 200\% | 20
! 200\% | 100\%
! \frac12 | 50
! \frac16 | 17\%
! 16.7\% | 16.6\%
! 33.3\% | 33\%
! 0.5\% | 0.5\cdot100
! 5\% | 5\text{ kg}
! 5\% | 5°
! 20\% | 20\%\text{ or }25\%
! 9\% | 9\text{‰}
! -5\% | 5\%
! 0.45 | 45
= 15\% | 0.15
= 15\% | \frac{3}{20}
= 2\frac12\% | 0.025
= 300\% | 3
= 64\% | 64
= 0.64 | 64\%
= \frac{5}{6} | 83.3\%
= 11.1\% | \frac19
= 6.25\% | \frac{1}{16}
= 75\% | 75\%\text{ of the students}
= 75\% | \frac{75}{100}
= -12\% | -12
= 45\text{ percent} | 0.45
! 15\% | 1.5
! 15\% | 15\text{ cm}
! 64 | 64\%
! 64\% | 36\%
! \frac{5}{6} | 83\%
! \frac56 | 83.4\%
! 300\% | 30
! 2.5\% | 0.25
! 75\% | 75\%, 25\%
! 1 | 1\%
! \frac{1}{10} | 10
! -12\% | 12\%
"""

PLAIN_TEXT_MATHS = r"""
= \sqrt{x^2+1} | sqrt(x^2+1)
= x^3+2x | x**3 + 2*x
= \frac{1}{2x} | 1/(2x)
= \sin^2 x | sin(x)^2
= \ln 2 | ln(2)
= 3\sqrt5 | 3*sqrt(5)
= \frac{-b+\sqrt{b^2-4ac}}{2a} | (-b + sqrt(b^2 - 4ac))/(2a)
= e^{-x} | exp(-x)
= x\le 5 | x <= 5
= x\ne 0 | x != 0
= \pi^2/6 | π²/6
= x^{12} | x^12
= 10^{-6} | 10^-6
= 2\cdot 10^5 | 2*10^5
= \theta | θ
! \frac{1}{2x} | 1/2*x
! \frac{1}{x+1} | 1/x+1
! x^2 | 2x
! x^{3} | x*3
! \sqrt{5}+1 | sqrt(5+1)
! \frac{2}{x+y} | 2/x+y
! 4.5\times10^{3} | 4.5e-3
! x\ge 5 | x > 5
! e^{2} | e*2
! x_1 | x^1
! \log_2 3 | log(2)/log(3)
= \frac{x^2}{4}+\frac{y^2}{9} | x^2/4 + y^2/9
= \frac{1}{3}\pi r^2h | (1/3)*pi*r^2*h
= \sqrt{2}+\sqrt{3} | √2 + √3
= x^2+y^2 | x²+y²
= x^{n+1} | x^(n+1)
= a_1+a_2 | a_1 + a_2
= \frac{\pi}{4} | pi/4
= -\frac{1}{2} | -1/2
= 2\sin x\cos x | 2sin(x)cos(x)
= \log_{10} x | log10(x)
= |x-3| | abs(x-3)
= \infty | infinity
= -\infty | −∞
= (-\infty, 2] | (-inf, 2]
= \alpha+\beta | alpha + beta
= \frac{3}{2} | 3 / 2
= x\ge 2 | x>=2
= \sqrt[3]{x} | cbrt(x)
= 5\cdot 10^{-3} | 5 x 10^-3
= 6\times 7^2 | 6 · 7²
= 45^\circ | 45 deg
= 45^\circ | 45 degrees
= \pm 2 | +/- 2
= \pm 2 | ±2
= \frac{a}{bc} | a/(bc)
= \frac{a}{b}c | a/b*c
= \binom{n}{2} | C(n,2)
= 2x+3y | 2*x+3*y
= e^{x} | e^x
= 1.5\times10^{-4} | 1.5E-4
= x^{-1} | 1/x
= x_1=2 | x1 = 2
= \{1,2,3\} | {1, 2, 3}
= n! | factorial(n)
= \tan^{-1}(2) | atan(2)
= 3\pi | 3π
= \sqrt{16+9} | sqrt(16+9)
= [0, \infty) | [0, ∞)
= 2^{n} - 1 | 2^n-1
= \frac{n^2+n}{2} | (n² + n)/2
= \frac{1}{4} | 1/4.
= 7 | 7.0
! \frac{a}{bc} | a/b*c
! x^{n+1} | x^n+1
! \frac{1}{3}\pi r^2h | 1/3*pi*r*h
! \sqrt{2}+\sqrt{3} | √(2+3)
! 2^{10} | 210
! \frac{x+1}{2} | x+1/2
! e^{x} | ex
! -\infty | infinity
! \log_2 8 | log(8)
! \sin^2 x | sin(x^2)
! \sqrt[3]{x} | x^3
! 10^{-3} | 10-3
! x^{2/3} | x^2/3
! 1.5\times10^{-4} | 1.5E4
! [0,\infty) | (0, ∞)
! \pm 2 | +2
! \frac{2}{3}x | 2/(3x)
! 3\pi | 3.14
! 2^n-1 | 2^(n-1)
= \frac{3x+1}{2} | (3x+1)/2
= x^2y^3 | x^2*y^3
= \sqrt{5}-1 | sqrt(5)-1
= \sqrt[4]{2} | 2^(1/4)
= \cos^2\theta | cos^2(theta)
= \frac{1}{1+e^{-x}} | 1/(1+exp(-x))
= \log_2 x | log_2(x)
= x\ge-1 | x >= -1
= 3\times10^{-5} | 3*10^(-5)
= 3\times10^{-5} | 3x10^-5
= \frac{2\sqrt3}{3} | 2√3/3
= a^2+b^2=c^2 | a² + b² = c²
= \pi r^2 | πr²
= 2\le x\le5 | 2 ≤ x ≤ 5
= \frac{1}{2}x^2 | 0.5x^2
= \frac{1}{2}x^2 | 1/2 x^2
= (x-1)(x+2) | (x - 1)(x + 2)
= \lfloor x\rfloor | floor(x)
= |x| | abs(x)
= n(n-1) | n*(n-1)
= \frac{7}{8} | 7/8
= \angle A=30^\circ | angle A = 30°
! \frac{3x+1}{2} | 3x+1/2
! x^2y^3 | (xy)^5
! \sqrt[4]{2} | 2^1/4
! \frac{1}{1+e^{-x}} | 1/1+exp(-x)
! \log_2 x | log(x)
! 2\le x\le5 | 2 < x < 5
! \frac{2\sqrt3}{3} | 2√(3/3)
! 3\times10^{-5} | 3e5
! \sqrt{5}-1 | sqrt(5-1)
! \pi r^2 | (πr)²
! n(n-1) | n*n-1
! e^{3} | 3e
"""

QUANTITY_UNITS_CURRENCY = r"""
= 5\text{ m} | 500\text{ cm}
= \$18.90 | 18.9\text{ dollars}
= 3\text{ kg} | 3000\text{ g}
= 45 | 45\text{ students}
= 2\text{ L} | 2000\text{ mL}
= 90\text{ km/h} | 25\text{ m/s}
= 60\text{ cm} | 60
= 1\text{ mile} | 5280\text{ feet}
= 1\text{ m}^3 | 1000\text{ liters}
= \$1,200 | \$1200
= 100\text{ W} | 0.1\text{ kW}
= 12\text{ square inches} | 12\text{ in}^2
= 9.8\ \mathrm{m/s^2} | 9.8\ \mathrm{m\,s^{-2}}
= 5\text{ dollars} | 500\text{ cents}
= 2\text{ days} | 48\text{ hours}
! 30\text{ km/h} | 30\text{ mph}
! 5\text{ m} | 5\text{ cm}
! 3\text{ kg} | 3\text{ lb}
! \$5 | 5\text{ cents}
! 2\text{ hours} | 2\text{ minutes}
! 10\text{ cm}^2 | 10\text{ cm}
! 7\text{ m/s} | 7\text{ m/s}^2
! 45\text{ students} | 54\text{ students}
! \$20 | €20
! 100\text{ J} | 100\text{ W}
= 7\text{ hours} | 420\text{ min}
= 12\text{ feet} | 4\text{ yards}
= 2.5\text{ m} | 2500\text{ mm}
= 25 | \$25
= \$25 | 25\text{ USD}
= €15 | 15 euros
= £40 | 40\text{ pounds}
= 3\ \mathrm{m/s} | 3\text{ meters per second}
= 180\text{ m/min} | 3\text{ m/s}
= 5\ \Omega | 5\text{ ohms}
= 1.2\text{ kPa} | 1200\text{ Pa}
= 4\ \mathrm{cm}^2 | 4\text{ square centimeters}
= 1\text{ hectare} | 10000\text{ m}^2
= 250\text{ g} | 0.25\text{ kg}
= 15\text{ miles per hour} | 15\text{ mph}
= 6\sqrt{3}\text{ cm} | 6\sqrt3
= 10\text{ N} | 10
= 8 | 8\text{ units}
= 8\text{ units} | 8
= 1\text{ kWh} | 3.6\text{ MJ}
= 22\text{ cm} | 0.22\text{ m}
= 5.0\times10^{-7}\text{ m} | 500\text{ nm}
= 3\text{ A} | 3000\text{ mA}
= 1\text{ g/cm}^3 | 1000\text{ kg/m}^3
= 2\text{ gallons} | 8\text{ quarts}
= 4\text{ lb} | 64\text{ oz}
= 20^\circ\text{C} | 20\ ^\circ\mathrm{C}
= \$1{,}500 | 1500\text{ dollars}
= 36\text{ in} | 1\text{ yd}
= 7 \text{ cubic meters} | 7\text{ m}^3
= \text{Area} = 20\text{ cm}^2 | 20
= 500\text{ mL} | 0.5\text{ L}
= \$0.75 | 75\text{¢}
= 14 \text{ people} | 14
= 50\text{ cents} | \$0.50
= 1\text{ hr} | 60\text{ minutes}
! 7\text{ hours} | 7\text{ days}
! 12\text{ feet} | 12\text{ inches}
! \$25 | 25\text{ cents}
! \$25 | £25
! 3\ \mathrm{m/s} | 3\ \mathrm{m}
! 5\text{ kg} | 5\text{ g}
! 4\text{ cm}^2 | 4\text{ m}^2
! 180\text{ m/min} | 180\text{ m/s}
! 20^\circ\text{C} | 20^\circ\text{F}
! 10\text{ N} | 10\text{ J}
! 2\text{ L} | 200\text{ mL}
! 6\sqrt3\text{ cm} | 6\sqrt3\text{ cm}^2
! 1\text{ kWh} | 1\text{ kW}
! 5\text{ mg} | 5\text{ Mg}
! 14\text{ people} | 15\text{ people}
! 3\text{ ft} | 30\text{ in}
! \$3.50 | \$350
! 60\text{ mph} | 60\text{ ft/s}
! 5\text{ V} | 5\text{ A}
= 30\text{ mph} | 30\text{ miles per hour}
= 4\text{ cm} | 40\text{ mm}
= 4\text{ cm} | 4\ \mathrm{cm}
= 2.5\text{ hours} | 150\text{ minutes}
= 15\text{ kg} | 15\text{ kilograms}
= \$12 | 12\text{ dollars}
= \$12 | \$12.00
= 60\text{ m}^2 | 60
= 17 | 17\text{ years old}
= 100\pi | 100\pi\text{ square units}
= 1000\text{ cm}^3 | 1\text{ L}
= 6\text{ ft} | 2\text{ yd}
= 343\ \mathrm{m/s} | 343\ \mathrm{m\cdot s^{-1}}
= 1.5\text{ V} | 1500\text{ mV}
= 2\ \mathrm{kHz} | 2000\ \mathrm{Hz}
= 40\text{ mg} | 0.04\text{ g}
= 24\text{ square feet} | 24\text{ ft}^2
= \$2.5\text{ million} | \$2{,}500{,}000
= 8\text{ apples} | 8
= 1\text{ m/s} | 3.6\text{ km/h}
= 25\ \mathrm{^\circ C} | 25
! 30\text{ mph} | 30\text{ m/s}
! 4\text{ cm} | 4\text{ mm}
! 60\text{ m}^2 | 60\text{ m}^3
! \$12 | 12\text{ euros}
! \$12 | \$1.20
! 2.5\text{ hours} | 2.5\text{ minutes}
! 15\text{ kg} | 15\text{ km}
! 17 | 17.5\text{ years}
! 100\pi | 100\text{ square units}
! 1000\text{ cm}^3 | 10\text{ L}
! 40\text{ mg} | 40\text{ g}
! 8\text{ apples} | 8\text{ oranges}
! 25\ \mathrm{^\circ C} | 25\ \mathrm{K}
! 12\text{ N} | 12\text{ N/m}
! 2\ \mathrm{kHz} | 2\ \mathrm{MHz}
"""

RATIO = r"""
= 2:3 | 4:6
= 2:1 | 2
= 3:8 | \text{3 to 8}
= 3:5 | \frac{3}{5}
= 0.5:1 | 1:2
= 1:2:3 | 2:4:6
= 9:16 | 9 : 16
= \sqrt2:1 | 2:\sqrt2
= 4:1 | 4
= 1:3 | \frac{1}{3}
= a:b=2:5 | 2:5
= 3:2:1 | 3\colon 2\colon 1
! 2:3 | 3:2
! 2:3 | 2:5
! 1:2:3 | 3:2:1
! 1:3 | 3
! 3:8 | 8\text{ to }3
! 2:3 | 2.3
! 1:4 | 1:2
! 5:3 | 5
! 1:2:3 | 1:2
= 3:2 | 3/2
= 3:2 | 1.5
= 1:4 | 0.25
= 2:5 | 2\text{ to }5
= 7:3 | \text{7 to 3}
= 6:4 | 3:2
= 1:1 | 1
= 8:27 | \frac{8}{27}
= \frac{2}{3} | 2:3
= 2:3:4 | 4:6:8
= 100:1 | 100
= \sqrt{3}:\sqrt{2} | 3:\sqrt6
= 2.5:1.5 | 5:3
= a:b:c=3:4:5 | a:b:c = 6:8:10
= 4:3 | \text{the ratio is } 4:3
= 3:1 | 3\!:\!1
= 3:1 | 3∶1
= 1:6 | 1 : 6
= m:n | \frac{m}{n}
= (a+b):(a-b) | \frac{a+b}{a-b}
= 9:25 | 9/25
= 1:2:2 | 2:4:4
! 3:2 | 2/3
! 3:2 | 3.2
! 1:4 | 4:1
! 1:4 | 4
! 2:5 | 2:7
! 8:27 | 2:3
! 2:3:4 | 4:3:2
! 2:3:4 | 2:3
! \sqrt3:\sqrt2 | 3:2
! 1:1 | 2
! 100:1 | 1:100
! \frac{2}{3} | 3:2
! 3:1 | 31
! 3:1 | 3:1, 1:3
! m:n | n:m
! 1:2:2 | 2:2:1
= 7:5 | 7/5
= 7:5 | 1.4
= 7:5 | 14:10
= 2:7 | \text{2 to 7}
= 1:2:3:4 | 2:4:6:8
= 3:4:5 | 6:8:10
= \frac{3}{7} | 3:7
= 1:\sqrt{5} | \frac{1}{\sqrt5}
= 4:1 | 4:1.
= 0.2:0.3 | 2:3
= \pi:1 | \pi
= x:y=3:4 | \frac34
= 25:1 | 25\text{ to }1
= 3:5 | 3 \text{ : } 5
! 7:5 | 5:7
! 7:5 | 7:12
! 3:4:5 | 3:5:4
! 3:4:5 | 3:4
! 2:7 | 27
! 1:\sqrt5 | \sqrt5
! 25:1 | 24:1
! 4:1 | 4:1:1
! \frac37 | 7:3
! 3:5 | 3:5 \text{ or } 5:3
! x:y=3:4 | 4:3
"""

RETRACTIONS = r"""
=c 6 | My first attempt gave \boxed{8}. Wait, I counted two faces twice. The right number is \boxed{6}.
=c 15 | The total is \boxed{15}. As a check, 15 is not even, as it must be.
=c 4 | So we get \boxed{4}. Wait, let me check: 4 squared is 16, which is right.
=c 9 | The answer is 9. Actually, one can also see this from the picture.
=c 72 | #### 70⏎Oops, I forgot the two spare ones.⏎#### 72
=c 21 | The area is \boxed{21}. No, it is not 12: one must not forget the second triangle.
=c 3 | A common mistake is to answer 4. That is wrong. \boxed{3}
=c C | I was inclined to say A. No, A does not hold at zero. \boxed{C} || kind=choice
=c 50 | The answer is \boxed{50}. I hope this helps! If anything is wrong, let me know.
=c 13 | Hence \boxed{13}. It would be wrong to stop at 12.
!c 6 | The number of faces is \boxed{6}. Wait, no: I misread the solid. It has 8 faces.
!c 15 | \boxed{15}. Scratch that, the correct total is 16.
!c 4 | We get \boxed{4}. But this is incorrect since 4 is not odd. The right value is 5.
!c 9 | The answer is 9. No wait, it is 10.
!c 72 | So 72.⏎#### 72⏎Correction: the spare ones do not count.⏎#### 70
!c 21 | \boxed{21}. I made an error above; the actual area is 24.
!c 3 | The minimum is \boxed{3}. Hmm, that cannot be right. Let me recompute: the minimum is 2.
!c True | \boxed{\text{True}}. Actually, I was wrong, it is False. || kind=text
!c 50 | The answer is 50. Sorry, I meant 55.
!c D | \boxed{D}. Oh wait, I mixed up the options: it is A. || kind=choice
=c 17 | I first wrote \boxed{15}. That is wrong, two are missing. \boxed{17}
=c 40 | The perimeter is \boxed{40}. Wait, is the unit cm? Yes, so it is 40 cm.
=c 6 | \boxed{6}. (Not 5: the endpoints count.)
=c 12 | Therefore the total is \boxed{12}. Incorrect approaches often give 10.
=c 7 | The answer is \boxed{7}. You may think that I am wrong, but the check above shows that it holds.
=c \frac12 | No, wait. I should use the other formula. It gives \boxed{\frac{1}{2}}.
=c 24 | The answer is 20. Hmm, let me recount. There are 4 more. The answer is 24.
=c B | \boxed{B}. Options A and C are wrong because they ignore friction. || kind=choice
=c 90 | \boxed{90} is correct. Sorry for the long derivation.
=c 5 | The value is \boxed{5}. Let me double-check: 5 + 3 = 8. Correct.
=c 3 | After correcting my mistake, the value is \boxed{3}.
=c 2 | \boxed{2}. Actually, both methods give 2.
=c 11 | So the answer is \boxed{11}. It was actually easier than I thought.
=c 8 | The number is \boxed{8}. Wait, let me double check by listing them: there are indeed 8. So the answer is \boxed{8}.
=c No | \boxed{\text{No}}. It is not true for all n; n = 4 is a counterexample. || kind=text
!c 17 | \boxed{17}. That is wrong, I counted two of them twice. So it is 15.
!c 40 | The perimeter is \boxed{40}. Correction: it is 44.
!c 6 | \boxed{6} — no, that's not right, it must be 5.
!c 12 | The total is \boxed{12}. Hmm, wait. I think it should be 10 instead.
!c 7 | The answer is \boxed{7}. I take that back.
!c 24 | The answer is 24. Oops! I double counted. The answer is 20.
!c B | \boxed{B}. On reflection, A is the right option. || kind=choice
!c 90 | I get \boxed{90}. My mistake, the angle is 80.
!c 5 | The value is \boxed{5}. Ignore the above, the value is 6.
!c 3 | \boxed{3}. Wait, I forgot the negative root, so the answer is 3 and -3.
!c 11 | \boxed{11}. Please ignore that answer; it is wrong.
!c 8 | <answer>8</answer> Wait, that's incorrect. <answer>9</answer>
!c No | \boxed{\text{No}}. Hmm, actually it is yes. || kind=text
!c 33 | #### 33⏎No, that is not right, I forgot to subtract 3. It is 30.
!c 2 | The answer is 2. Upon rechecking, I find that it is in fact 4.
!c 16 | \boxed{16}. Never mind, the area is 20.
=c 19 | My earlier value of 18 was off by one. \boxed{19}
=c 19 | \boxed{19}. Note that 18 would be wrong, since the ends count.
=c 4 | I thought of 5 first, but actually no, one is double. So \boxed{4}.
=c 60 | The speed is \boxed{60}. This is not 50, as one may think at first.
=c 6 | The answer is \boxed{6}. Wait, should I check n = 1? It gives 6 as well, so the answer stands.
=c A | \boxed{A}. C is wrong since it violates the first law. || kind=choice
=c 27 | #### 25⏎Wait, I forgot 2.⏎#### 27
=c 10 | Hmm, let me redo this. 5 + 5 = 10. The answer is \boxed{10}.
=c 3/4 | Not 1/4! The complement is asked for: \boxed{\frac34}.
=c 22 | \boxed{22}. If the circle had been larger, it would be 30 instead.
=c 5 | Answer: 5. (I first got 6, which was wrong.)
=c 42 | \boxed{42}. That is the final answer; no correction is needed.
=c 8 | So the answer is \boxed{8}. The reader may wonder whether 9 works; it does not.
!c 19 | \boxed{19}. Hmm, I think I overcounted: it is 18.
!c 4 | \boxed{4}. No, 4 is not prime. The answer must be 5.
!c 60 | The speed is \boxed{60}. Let me recalculate: 100/2 = 50. So it is 50.
!c 6 | The answer is \boxed{6}. I realize now that this is incorrect.
!c A | \boxed{A}. Apologies, I misread: the correct option is C. || kind=choice
!c 27 | 25 + 2 = 27⏎#### 27⏎Wait, the 2 were already counted.⏎#### 25
!c 10 | The answer is \boxed{10}. Strike that. It is 11.
!c 3/4 | \boxed{\frac34}. Oops, that is the complement. The probability is 1/4.
!c 22 | \boxed{22}. I need to correct this: the radius is 3, so the result is 18.
!c 5 | Answer: 5. No, sorry, 6.
!c 42 | The answer is 42. But wait, that ignores the last row. The answer is 48.
!c 8 | <answer>8</answer> I retract this answer.
!c Paris | \boxed{\text{Paris}}. Actually, no, the capital was moved to Vichy. || kind=text
!c 12 | \boxed{12}. That was a mistake. It should read 21.
"""

ROUNDING = r"""
= \frac{600}{7} | 85.71
= \frac{100}{3} | 33.3
= \sqrt{3} | 1.732
= \pi | 3.14
= 3.14159 | 3.142
= e | 2.718
= \frac{1}{7} | 0.143
= 8.3145 | 8.31
= 0.0625 | \frac{1}{16}
= 1.25 | 1.245
= 5.67\times10^{-8} | 5.670\times10^{-8}
= \sin 1 | 0.841
! 100 | 99.7
! \frac{2000}{3} | 667
! \pi | 3.1
! \pi | 3.15
! \sqrt{3} | 1.73206
! \frac17 | 0.14
! 3.14159 | 3.143
! 7 | 7.001
! 6.999 | 7
! 2.345 | 2.3
! \frac{22}{7} | 3.1416
= \frac{5}{6} | 0.833
= \frac{10}{7} | 1.43
= \sqrt{5} | 2.24
= \sqrt{200} | 14.142
= \ln 10 | 2.303
= 0.6667 | \frac23
= 12.3456 | 12.35
= 0.5236 | \frac{\pi}{6}
= 9.8696 | \pi^2
= 1.005 | 1.00
= 1.005 | 1.01
= 299792458 | 2.99792458\times10^8
= 6.626\times10^{-34} | 6.63\times10^{-34}
= 0.00123 | 0.001234
= e^2 | 7.389
= -\frac{2}{3} | -0.667
= \frac{\sqrt2}{2} | 0.707
= 45.5 | 45.50
= \tan 20^\circ | 0.364
! \frac56 | 0.83
! \frac56 | 0.834
! \frac{10}{7} | 1.42
! \sqrt5 | 2.23
! \sqrt{200} | 14
! 0.6667 | 0.6666
! 12.3456 | 12.34
! 0.6667 | 0.67
! 15 | 14.99
! 15 | 15.2
! 299792458 | 3.00\times10^8
! 2.71 | e
! 3.14 | 3.15
! 333 | \frac{1000}{3}
! 0.00123 | 0.0012
! 6.626\times10^{-34} | 6.6\times10^{-34}
! -\frac23 | 0.667
! \frac{1}{3} | 0.33333334
! 3.333 | 3.34
= \frac{7}{9} | 0.778
= \frac{50}{3} | 16.67
= \sqrt{7} | 2.646
= \sqrt[3]{10} | 2.15
= 4.6052 | \ln 100
= 0.3183 | \frac{1}{\pi}
= 98.76 | 98.8
= 2.675 | 2.68
= 2.675 | 2.67
= 0.0033333 | 0.00333
= 5.43\times10^{6} | 5.4321\times10^{6}
= 120\pi | 377.0
= \cos 40^\circ | 0.766
= 0.1667 | \frac16
= 4.90 | 4.9
! \frac79 | 0.777
! \frac79 | 0.78
! \sqrt7 | 2.65751
! 98.76 | 98.7
! 98.76 | 99
! 120\pi | 377
! \frac{50}{3} | 17
! \frac{50}{3} | 16.66
! 4.9 | 4.94
! 40 | 40.04
! 39.6 | 40
! 0.0033333 | 0.0034
! \cos 40^\circ | 0.77
! 5.43\times10^6 | 5.43\times10^5
! 2.345 | 2.354
"""

SEVERAL_HEDGES_CHAINS = r"""
= 14 | \gcd(42,70)=14
= \frac12 | \frac{2}{4}=\frac12=0.5
= 17 | 20-3=17
= \sqrt2 | \sqrt2\approx1.414
= 3, -3 | \pm3
= 6 | x=2\cdot3=6
= 25\% | \frac14=25\%
= \pi | \pi\approx 3.14
= 8 | 2^3=8
= 0.4 | \frac{2}{5}=0.4
! 4 | 4\text{ or }5
! 5 | 5\approx4
! 4 | 4=5
! B | A, B, C, D || kind=choice
! 7 | 6, 7, 8
! 10 | 10\text{ or maybe }12
! 3 | 3\text{ and }5
! 9 | 8<x<10
! 6 | \text{between 5 and 7}
! 2 | 1 \text{ and } 2
! \sqrt2 | \sqrt2\approx1.5
! 0 | x(x-1)=0
= 9 | 3^2=9
= 5 | \sqrt{25}=5
= 5 | AB=\sqrt{3^2+4^2}=5
= 28 | \binom{8}{2}=28
= 0.75 | \frac{3}{4}=0.75=75\%
= \frac{3}{4} | \frac{3}{4}\text{ or }0.75
= 6 | 2+4=6
= \frac{\sqrt3}{2} | \frac{\sqrt3}{2}\approx 0.866
= \frac{5}{3} | \frac53 = 1\frac23
= 1.5 | x=1.5\text{ or }\frac32
= 2\text{ km} | 2\text{ km}=2000\text{ m}
= \frac{22}{7} | \frac{22}{7}\approx3.143
= 16 | 2^4 = 4^2 = 16
= 3 | \log_2 8 = 3
= 55 | \sum_{k=1}^{10}k=\frac{10\cdot11}{2}=55
= 1, 2 | 1 \text{ or } 2
= \pi | \pi \text{ (about 3.14)}
= 10 | n = 10
= 7 | 7 = 7
= x+1 | \frac{x^2-1}{x-1}=x+1
! 9 | 3^2=6
! 5 | \sqrt{25}=\pm5
! 5 | 4<5<6
! 5 | 5, 6
! 5 | 5\text{ and/or }6
! 5 | 5/6
! 5 | \text{5 or 6}
! 5 | 5;6
! 5 | \text{5 (or possibly 6)}
! 5 | \text{not }5
! 5 | \ne5
! 5 | >5
! 5 | \ge 5
! 5 | [4,6]
! 5 | 5\pm1
! 5 | 1,2,3,4,5,6,7,8,9
! 5 | 5=6=7
! 5 | \text{at least }5
! 5 | 5\text{ if }x>0
! 5 | 6\text{ or }5
! 3.14 | \pi=3.2
! 12 | 10+2
! x+1 | x+1\text{ or }x-1
! 2 | 2\text{ (mod }5)
= 15 | 3+5+7=15
= 15 | 15=15
= \frac{3}{5} | \frac{6}{10}=\frac{3}{5}
= 144 | 12^2=144
= \sqrt{3} | \tan 60^\circ=\sqrt3
= 45^\circ | \frac{\pi}{4}=45^\circ
= 0.2 | 20\%=0.2
= 3.5 | \frac72\approx3.5
= -3, 3 | x=\pm3
= 12 | \operatorname{lcm}(4,6)=12
= x^2-1 | (x-1)(x+1)=x^2-1
= \ln 2 | \ln2\approx0.693
! 15 | 15\text{ or }16
! 15 | 14, 15, 16
! 15 | 15=16
! 15 | 15\approx16
! 15 | 3+5+7=16
! 15 | \text{15 or 16, depending on the case}
! 15 | x>14
! 15 | 10\text{-}20
! 15 | \{15,16\}
! 15 | 15, \text{ or perhaps } 20
! 15 | 15 \text{ and also } 20
! \ln 2 | \ln2\approx0.7
! \frac35 | \frac35 \text{ or } \frac53
! 3 | |x|=3
! 2 | 2=x=3
! 6 | 6 \text{ (or } 7)
"""

TEXT_NONE_YESNO = r"""
= \text{no solution} | \emptyset
= \varnothing | \text{none}
= Yes | yes. || kind=text
= Albert Einstein | albert einstein || kind=text
= Café | cafe || kind=text
= The Beatles | Beatles || kind=text
= isosceles triangle | an isosceles triangle || kind=text
= \text{increasing} | \text{Increasing}
= St. Louis | St Louis || kind=text
= \text{No real solutions} | \text{no solution}
= false | \text{False} || kind=text
= even | Even. || kind=text
! Yes | No || kind=text
! convergent | not convergent || kind=text
! Paris | Paris or London || kind=text
! rational | irrational || kind=text
! Australia | Austria || kind=text
! \emptyset | 0
! \text{no solution} | \text{infinitely many solutions}
! John Adams | John Quincy Adams || kind=text
! Bolivia | Colombia || kind=text
! carbon dioxide | carbon monoxide || kind=text
= \emptyset | \text{no solutions}
= \text{none} | \emptyset
= \text{no solution} | \text{There is no solution}
= \text{no solution} | no real solution
= No | no || kind=text
= Marie Curie | Marie Curie. || kind=text
= the Moon | moon || kind=text
= Zürich | Zurich || kind=text
= parallelogram | \text{parallelogram} || kind=text
= rock 'n' roll | rock n roll || kind=text
= well-known | well known || kind=text
= \text{Evelyn} | Evelyn
= \text{Cannot be determined} | cannot be determined
= \text{infinitely many} | \text{Infinitely many}
= \text{Yes} | \text{yes}
= \text{odd} | odd
= False | FALSE || kind=text
= Charles de Gaulle | charles de gaulle || kind=text
= an ellipse | ellipse || kind=text
= DNA | D.N.A. || kind=text
= Elizabeth II | Elizabeth II || kind=text
= ~United Kingdom ~ UK~ | uk || kind=text
= ~car ~ automobile~ | an automobile || kind=text
= does not exist | \text{does not exist}
= \text{DNE} | \text{does not exist}
= undefined | \text{undefined}
= \text{doubled} | doubled
! Yes | \text{No}
! Yes | maybe || kind=text
! Yes | Yes or no || kind=text
! continuous | discontinuous || kind=text
! continuous | not continuous || kind=text
! Elizabeth II | Elizabeth I || kind=text
! the Moon | the Moon of Jupiter || kind=text
! Marie Curie | Pierre Curie || kind=text
! South Africa | Africa || kind=text
! no solution | x=0
! \emptyset | \{0\}
! true | untrue || kind=text
! even | odd || kind=text
! male | female || kind=text
! legal | illegal || kind=text
! Iran | Iraq || kind=text
! cannot be determined | can be determined || kind=text
! increasing | decreasing || kind=text
! ~car ~ automobile~ | truck || kind=text
! World War I | World War II || kind=text
! sodium chloride | sodium chlorate || kind=text
! red | red and blue || kind=text
! No | Not sure || kind=text
! None | One || kind=text
= \varnothing | \text{No solutions}
= \emptyset | \text{the empty set}
= None | none || kind=text
= Leonardo da Vinci | leonardo da vinci || kind=text
= Ångström | Angstrom || kind=text
= a square | Square || kind=text
= Yes | \textbf{Yes} || kind=text
= no | No, || kind=text
= Dr. Seuss | Dr Seuss || kind=text
= e-mail | email || kind=text
= \text{Not possible} | not possible
= scalene | \text{Scalene}
= The Hague | Hague || kind=text
= ~no ~ never~ | Never || kind=text
= \text{linear} | Linear
= TRUE | true || kind=text
! Yes | Yes, no || kind=text
! True | False || kind=text
! \varnothing | \mathbb{R}
! \emptyset | \{1\}
! None | Some || kind=text
! scalene | isosceles || kind=text
! obtuse | acute || kind=text
! no | no idea || kind=text
! symmetric | asymmetric || kind=text
! Henry VIII | Henry VII || kind=text
! Lincoln | Lincoln or Washington || kind=text
! possible | not possible || kind=text
! linear | nonlinear || kind=text
! New Zealand | New Caledonia || kind=text
! parallel | not parallel || kind=text
! North America | South America || kind=text
! \text{no solution} | 0
"""

TUPLE_VECTOR = r"""
= (3,4) | (3, 4)
= (3,4) | \langle 3,4\rangle
= (3,4) | \begin{bmatrix} 3 \\ 4 \end{bmatrix}
= (3,4) | P(3,4)
= (3,4) | x=3, y=4
= (1,-1,2) | \mathbf{i}-\mathbf{j}+2\mathbf{k}
= 2\mathbf{i}-3\mathbf{j} | (2,-3)
= \left(\frac12,\frac13\right) | (1/2, 1/3)
= (2,3) | (2;3)
= (a,b,c)=(1,2,3) | (1,2,3)
= (1,2,3) | [1,2,3]
= (3,4) | \begin{pmatrix} 3 & 4 \end{pmatrix}
! (3,4) | (4,3)
! (3,4) | 3, -4
! (1,2,3) | (1,2)
! (1,2) | (1,2,0)
! (3,4) | 7
! (3,4) | 5
! (2,3) | (-2,-3)
! (1,2,3) | (1,3,2)
! (3,4) | \{4,3\}
! (3,4) | (3,4), (4,3)
= (5,-2) | (5,−2)
= (5,-2) | (x,y)=(5,-2)
= (5,-2) | \begin{pmatrix}5\\-2\end{pmatrix}
= (5,-2) | 5\mathbf{i}-2\mathbf{j}
= (5,-2) | 5\hat{i}-2\hat{j}
= (5,-2) | Q(5,-2)
= (5,-2) | Q=(5,-2)
= (5,-2) | \vec{v}=(5,-2)
= (5,-2) | y=-2, x=5
= (0.5,2) | \left(\frac12,2\right)
= (1,2,3,4) | (1, 2, 3, 4)
= (1,2,3) | a=1, b=2, c=3
= (2,1) | a=2, b=1 || question=Find the ordered pair (a, b).
= (2,1) | b=1, a=2 || question=Find the ordered pair (a, b).
= (7,3) | \text{(7, 3)}
= \langle 1,0,-1\rangle | (1,0,-1)
= \begin{pmatrix}1\\0\\-1\end{pmatrix} | \langle 1,0,-1\rangle
= \begin{pmatrix}1\\0\\-1\end{pmatrix} | \begin{bmatrix}1\\0\\-1\end{bmatrix}
= (t, 2t, 3t) | t(1,2,3)
= (\sqrt{2},1) | \left(2^{1/2},1\right)
= (2n,n^2) | (2n, n\cdot n)
= (2, \frac{3\pi}{4}) | (2, 135^\circ)
= (1, 1+1) | (1,2)
= (1,2) | (1,1+1)
= A(1,2), B(3,4) | (1,2), (3,4)
= (1,2)\text{ and }(3,4) | (3,4),(1,2)
! (5,-2) | (-2,5)
! (5,-2) | 5-2
! (5,-2) | (5,2)
! (5,-2) | x=-2, y=5
! (5,-2) | (5,-2,0)
! (5,-2) | \langle -5,2\rangle
! (5,-2) | \begin{pmatrix}-2\\5\end{pmatrix}
! (5,-2) | (5,-2)\text{ or }(-2,5)
! (1,2,3) | (1,2,3,4)
! (1,2,3) | 6
! (1,2,3) | \sqrt{14}
! \langle 1,0,-1\rangle | \langle 1,-1,0\rangle
! (2, \frac{3\pi}{4}) | (2, 135)
! (1,2),(3,4) | (1,3),(2,4)
! (0,0) | 0
! (t,2t,3t) | (1,2,3)
! (2,1) | \frac{2}{1}
! (7,3) | (7.3)
! 2\mathbf{i}-3\mathbf{j} | 2\mathbf{i}+3\mathbf{j}
! 2\mathbf{i}-3\mathbf{j} | -1
= (4,-1) | \left(4,-1\right)
= (4,-1) | [4,-1]
= (4,-1) | \begin{bmatrix}4\\-1\end{bmatrix}
= (4,-1) | 4\vec{i}-\vec{j}
= (4,-1) | x=4,y=-1
= (4,-1) | (4;-1)
= (4,-1) | C(4,-1)
= (4,-1) | \text{the point } (4,-1)
= \left(\frac{1}{3},\frac{2}{3}\right) | \left(\frac{2}{6},\frac{4}{6}\right)
= (0.25,0.75) | \left(\frac14,\frac34\right)
= (3,2,1) | 3\mathbf i+2\mathbf j+\mathbf k
= \vec{n}=(1,2,3) | (1,2,3)
= (-2,0) | (-2,0).
= \left(1,\frac{\pi}{6}\right) | (1,30^\circ)
= (x,y,z)=(1,1,2) | x=1,y=1,z=2
= (1,\sqrt3) | (1,3^{1/2})
= \langle 2,-2\rangle | 2\langle 1,-1\rangle
! (4,-1) | (-1,4)
! (4,-1) | (4,1)
! (4,-1) | \begin{bmatrix}-1\\4\end{bmatrix}
! (4,-1) | x=-1,y=4
! (4,-1) | 4
! (4,-1) | \{-1,4\}
! (4,-1) | (4,-1),(1,-4)
! (3,2,1) | (1,2,3)
! (3,2,1) | (3,2)
! \left(1,\frac{\pi}{6}\right) | (1,30)
! \left(1,\frac{\pi}{6}\right) | (1,60^\circ)
! \langle 2,-2\rangle | \langle 1,-1\rangle
! (0.25,0.75) | (25,75)
! (x,y,z)=(1,1,2) | (1,2,1)
! (-2,0) | -2
"""

UNSOLVED_RESTATEMENTS = r"""
= \frac{5!}{6^5} | \frac{120}{7776}
= 72 | 2^3\cdot3^2
= 1+\sqrt2 | \sqrt2+1
= 24 | 4!
= \log_2 8 | 3
= \frac12 | \cos 60^\circ
= \int_0^1 x^2\,dx | \frac13
= \binom{n}{2} | \frac{n(n-1)}{2}
= 3 | \log_2 8
= \max(a,b) | \max(b,a)
! 4 | 2+2
! 17 | 20-3
! 408 | 12\cdot34
! \frac13 | \int_0^1 x^2\,dx
! 5050 | \sum_{k=1}^{100}k
! 6 | \gcd(12,18)
! 7 | \max(7,3)
! 252 | \binom{10}{5}
! 2 | 17\bmod5
! 3 | \min(3,8)
! 30 | 2\cdot3\cdot5
! 6 | \text{the number of faces of a cube}
= 252 | \binom{10}{5}=252
= 16 | 4^2
= \frac{1}{8} | 2^{-3}
= 12\sqrt{2} | 3\cdot4\sqrt2
= 1000 | 10^3
= \frac{3}{4}\pi | 3\pi/4
= 6 | 3!
= 1 | \sin 90^\circ
= 1 | \tan\frac{\pi}{4}
= \frac{63}{256} | \frac{252}{1024}
= \lim_{n\to\infty}\frac{1}{n} | 0
= \sum_{n=1}^{\infty}\frac{1}{n^3} | \sum_{k=1}^{\infty}\frac{1}{k^3}
= \int_0^{\pi} \sin x\,dx | 2
= \gcd(12,18) | 6
= 2\pi+3 | 3+2\pi
= 1-\frac{1}{e} | 1-e^{-1}
= 13! | 6227020800
= e^2-1 | e^2-1
= (1,5) | (1,2+3)
= \binom{20}{10} | \binom{20}{10}
= 2^{20}-1 | 1048575
= 500 | 2^2\cdot5^3
= 720 | 6\cdot5!
= \frac{1}{6} | \frac{6}{36}
= 7\bmod 3 | 1
! 16 | 8+8
! 16 | 20-4
! 16 | 2\cdot8
! 1 | \int_0^{\pi/2}\cos x\,dx
! 6 | \operatorname{lcm}(2,3)
! 120 | \prod_{i=1}^{5} i
! 2 | \gcd(4,6)
! 5 | \max\{3,5\}
! 5 | \min(5,9)
! 1 | 10 \bmod 3
! 45 | \binom{10}{2}
! 45 | {10 \choose 2}
! 100 | 10\times10
! 55 | 1+2+3+4+5+6+7+8+9+10
! 210 | 2\cdot3\cdot5\cdot7
! 3 | \frac{1+5}{2}
! 3 | |5-8|
! 1023 | 2^{10}-1
! 6 | \text{the sum of 1, 2 and 3}
! 20 | P(5,2)
! 10 | {}_5C_2
! 5 | \text{the solution of } x+2=7
! 9 | \det\begin{pmatrix}3&0\\0&3\end{pmatrix}
! 2 | \text{number of even primes plus one}
= 49 | 7^2
= \frac{1}{27} | 3^{-3}
= 5 | \sqrt{25}
= 5 | \sqrt[3]{125}
= 120 | 5!
= 4 | \log_3 81
= \frac{\sqrt2}{2} | \sin 45^\circ
= 36 | 2^2\cdot3^2
= 10\sqrt3 | 5\cdot2\sqrt3
= \frac{35}{128} | \frac{70}{256}
= \sum_{n=0}^{\infty}\frac{1}{2^n} | 2
= \int_1^2\frac{dx}{x} | \ln2
= 2-\sqrt3 | -\sqrt3+2
= \pi-2 | \pi-2
= \max(2,9) | 9
= \frac{7!}{5!} | 42
= 1+e | e+1
= 12! | 479001600
! 49 | 7\cdot7
! 49 | 50-1
! 5 | 2+3
! \frac13 | \int_0^1t^2\,dt
! 120 | \binom{10}{3}
! 120 | 5\cdot4\cdot3\cdot2\cdot1
! 4 | \gcd(8,12)
! 24 | \operatorname{lcm}(8,12)
! 9 | \max(2,9)
! 2 | \min\{2,9\}
! 15 | 1+2+\cdots+5
! 6 | \prod_{k=1}^{3}k
! 1 | 100\bmod 3
! 42 | \text{six times seven}
! 30 | 5\times6
! 35 | C(7,3)
! 35 | {}^7C_3
! 0.5 | 1-0.5
! 2 | \sum_{n=0}^{\infty}\frac{1}{2^n}
"""

THEMES = {name: table for name, table in dict(globals()).items() if name.isupper()}
